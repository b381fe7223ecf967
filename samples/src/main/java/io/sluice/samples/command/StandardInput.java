package io.sluice.samples.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Watches this process's standard input, whose other end the process that started it holds. */
final class StandardInput {

    /** How long a process that was started by another one waits, after a signal to both, for the other one's word. */
    private static final Duration PARENT_FIRST = Duration.ofSeconds(3);

    private StandardInput() {}

    /**
     * Completes when a process is to end.
     *
     * @param termination completes on signals
     * @param untilInputEnds whether another process has started this one, and says by its standard input when to end. A Ctrl-C
     *     reaches both, and the other one has to say goodbye first, or its transfers would fail
     */
    static Mono<Void> endOr(Termination termination, boolean untilInputEnds) {
        return untilInputEnds
                ? Mono.firstWithSignal(
                        end(),
                        termination.requested().then(Mono.delay(PARENT_FIRST)).then())
                : termination.requested();
    }

    /** Completes when it ends, as it does when the process at its other end does, however it ends. */
    static Mono<Void> end() {
        Sinks.Empty<Void> ended = Sinks.empty();
        Thread.ofPlatform().daemon().name("standard-input").start(() -> {
            drain(System.in);
            ended.tryEmitEmpty();
        });
        return ended.asMono();
    }

    private static void drain(InputStream in) {
        try {
            in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // An input that cannot be read is as good as one that has ended.
            return;
        }
    }
}
