package io.sluice.samples.command;

import io.sluice.engine.TransferEngine;
import io.sluice.reactor.ReactiveTransferEngine;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;

/** {@code --drain}: how a process that serves takes its leave. */
final class DrainOption {
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
