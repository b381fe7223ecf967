package io.sluice.samples.trace;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The recorded trace of an hour of conversations, where the folder of the repository has it next to it; the repository does not copy it. Elsewhere one
 * that is made alike: as many requests, and the same share of blocks that an earlier request had.
 */
public final class RecordedTrace {

    static final int REQUESTS = 12_031;
    static final double REPEATED = 0.366;

    private static final String NAME = "shared/traces/mooncake_conversation_trace.jsonl";
    private static final int BLOCK_TOKENS = 512;
    private static final int MOST_BLOCKS = 47;
    private static final int RECENT = 5;

    private RecordedTrace() {}

    /** Its path. */
    public static Path file() {
        return Stream.iterate(Path.of("").toAbsolutePath(), p -> p != null, Path::getParent)
                .map(folder -> folder.resolve(NAME))
                .filter(Files::isRegularFile)
                .findFirst()
                .orElseGet(Made.FILE::toAbsolutePath);
    }

    /** Made once for all tests of a process. */
    private static final class Made {
        static final Path FILE = make();

        private static Path make() {
            try {
                Path file = Files.createTempFile("sluice-trace", ".jsonl");
                file.toFile().deleteOnExit();
                try (Writer out = Files.newBufferedWriter(file)) {
                    write(out);
                }
                return file;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static void write(Writer out) throws IOException {
            Random random = new Random(REQUESTS);
            List<List<Long>> earlier = new ArrayList<>();
            long blocks = 0;
            long repeated = 0;
            long unused = 0;
            for (int i = 0; i < REQUESTS; i++) {
                int length = 1 + random.nextInt(MOST_BLOCKS);
                blocks += length;
                List<Long> hashes = new ArrayList<>();
                if (i > 0) {
                    // a turn of a conversation: often of one that has just been heard, sometimes of an old one
                    int back = 1 + random.nextInt(Math.min(i, random.nextBoolean() ? RECENT : i));
                    List<Long> before = earlier.get(i - back);
                    int wanted = (int) Math.clamp(Math.round(REPEATED * blocks) - repeated, 0, length);
                    hashes.addAll(before.subList(0, Math.min(wanted, before.size())));
                }
                repeated += hashes.size();
                while (hashes.size() < length) {
                    hashes.add(unused++);
                }
                earlier.add(hashes);
                out.write("""
                        {"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%s]}
                        """.formatted(
                                i * 300L,
                                length * BLOCK_TOKENS - random.nextInt(BLOCK_TOKENS),
                                1 + random.nextInt(800),
                                hashes.stream().map(String::valueOf).collect(Collectors.joining(", "))));
            }
        }
    }
}
