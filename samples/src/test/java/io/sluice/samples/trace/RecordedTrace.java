package io.sluice.samples.trace;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** The recorded trace that tests use where it lies beside the repository. */
public final class RecordedTrace {

    private static final String NAME = "shared/traces/mooncake_conversation_trace.jsonl";

    private RecordedTrace() {}

    /** Its path; skips the test where it is not present. */
    public static Path orSkip() {
        Optional<Path> file = Stream.iterate(Path.of("").toAbsolutePath(), p -> p != null, Path::getParent)
                .map(folder -> folder.resolve(NAME))
                .filter(Files::isRegularFile)
                .findFirst();
        assumeTrue(file.isPresent(), "no recorded trace here");
        return file.orElseThrow();
    }
}
