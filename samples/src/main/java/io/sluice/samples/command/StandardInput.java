package io.sluice.samples.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Watches this process's standard input, whose other end the process that started it holds. */
final class StandardInput {

    private StandardInput() {}

    /** Completes when it ends, as it does when the process at its other end does, in whatever way. */
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
