package io.sluice.samples.compare;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Recorded output of the programs. */
final class RecordedOutput {

    private RecordedOutput() {}

    static String of(String name) throws IOException {
        try (InputStream in = Objects.requireNonNull(RecordedOutput.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
