package io.sluice.samples.command;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;

/** The options of commands that serve until they are told to end. */
final class ServerOptions {

    @Option(
            names = "--ready-file",
            paramLabel = "FILE",
            description = "Write this file once all can be used: JSON that says where to connect.")
    private @Nullable Path readyFile;

    @Option(
            names = "--until-input-ends",
            description = "End when standard input does: for a process that must not outlive the one that started it.")
    private boolean untilInputEnds;

    /** The ready file, which an earlier process may have left, is removed. */
    ReadyFile.Mark mark() throws IOException {
        return new ReadyFile.Mark(readyFile);
    }

    /** Completes when the command is to end. */
    Mono<Void> end(Termination termination) {
        return StandardInput.endOr(termination, untilInputEnds);
    }

    /** Whether another process has started this one, and prints what users are to know. */
    boolean isChild() {
        return untilInputEnds;
    }
}
