package io.sluice.samples.dashboard;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** A trace of small requests, at an even pace, that share no block. */
public final class PacedTrace {

    private static final int REQUESTS_PER_SECOND = 10;
    private static final int BLOCK_TOKENS = 512;
    private static final int MOST_BLOCKS = 5;

    private PacedTrace() {}

    /** Writes one that takes so many seconds at its own speed. */
    public static Path write(Path file, int seconds) throws IOException {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < seconds * REQUESTS_PER_SECOND; i++) {
            long blocks = 1 + i % MOST_BLOCKS;
            long first = (long) i * MOST_BLOCKS;
            String hashes = LongStream.range(first, first + blocks)
                    .mapToObj(Long::toString)
                    .collect(Collectors.joining(", "));
            lines.add("{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 1, \"hash_ids\": [%s]}"
                    .formatted(i * 1000L / REQUESTS_PER_SECOND, blocks * BLOCK_TOKENS, hashes));
        }
        return Files.write(file, lines);
    }
}
