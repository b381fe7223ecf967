package io.sluice.samples.command;

import io.sluice.engine.HostAndPort;
import io.sluice.engine.TransferEngine;
import io.sluice.reactor.ReactiveTransferEngine;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The options of commands that serve until they are told to end. */
final class ServerOptions {
    /** Any free port, reachable from this machine alone. */
    static final HostAndPort LOOPBACK = new HostAndPort("127.0.0.1", 0);

    private static final Logger LOG = LoggerFactory.getLogger(ServerOptions.class);

    /** How long a process that was started by another one waits, after a signal to both, for the other one's word. */
    private static final Duration PARENT_FIRST = Duration.ofSeconds(3);

    @Option(names = "--ready-file", paramLabel = "FILE")
    private @Nullable Path readyFile;

    @Option(names = "--until-input-ends")
    private boolean untilInputEnds;

    /** The ready file, which an earlier process may have left, is removed. */
    ReadyFile.Writer readyFileWriter() throws IOException {
        return new ReadyFile.Writer(readyFile);
    }

    /** Completes when the command is to end. A Ctrl-C reaches a process that has started this one, too, which then says goodbye first. */
    Mono<Void> end(Termination termination) {
        return untilInputEnds
                ? Mono.firstWithSignal(
                        inputEnd(),
                        termination.requested().then(Mono.delay(PARENT_FIRST)).then())
                : termination.requested();
    }

    /** Completes when standard input ends, as it does when the process at its other end does, however it ends. */
    static Mono<Void> inputEnd() {
        Sinks.Empty<Void> ended = Sinks.empty();
        Thread.ofPlatform().daemon().name("standard-input").start(() -> {
            try {
                System.in.transferTo(OutputStream.nullOutputStream());
            } catch (IOException notReadable) {
                LOG.debug("An input that cannot be read is as good as one that has ended", notReadable);
            }
            ended.tryEmitEmpty();
        });
        return ended.asMono();
    }

    /** Says something, unless another process has started this one, which prints what users are to know. */
    void introduce(ProgramCommand command, String what) {
        if (!untilInputEnds) {
            command.say(what);
        }
    }

    /** {@code --drain}: how a process that serves takes its leave. */
    static final class Drain {
        @Option(names = "--drain", paramLabel = "TIME")
        private @Nullable Duration drain;

        /**
         * Shuts the engine down in order, if that is wanted; closes nothing otherwise.
         *
         * @param termination has to wait as much longer
         */
        Mono<Void> drain(TransferEngine engine, Termination termination) {
            Duration patience = drain;
            if (patience == null) {
                return Mono.empty();
            }
            termination.waitLonger(patience);
            return ReactiveTransferEngine.from(engine).shutdown(patience);
        }
    }
}
