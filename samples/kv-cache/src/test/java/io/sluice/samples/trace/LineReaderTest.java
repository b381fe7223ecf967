package io.sluice.samples.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LineReaderTest {

    private static final String TOO_LONG = "(too long)";

    private static List<String> lines(InputStream in, int bound) throws IOException {
        List<String> lines = new ArrayList<>();
        try (TraceReader.LineReader reader = new TraceReader.LineReader(in, "t", bound)) {
            while (reader.next()) {
                lines.add(reader.tooLong() ? TOO_LONG : new String(reader.bytes(), StandardCharsets.UTF_8));
                assertThat(reader.number()).isEqualTo(lines.size());
            }
        }
        return lines;
    }

    private static InputStream text(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void splitsAtLineFeeds() throws IOException {
        assertThat(lines(text(""), 10)).isEmpty();
        assertThat(lines(text("\n"), 10)).containsExactly("");
        assertThat(lines(text("a\n\nb"), 10)).containsExactly("a", "", "b");
        assertThat(lines(text("a\nb\n"), 10)).containsExactly("a", "b");
    }

    @Test
    void keepsNothingOfALineBeyondTheBound() throws IOException {
        assertThat(lines(text("12345\n123456\n1\n1234567890"), 5)).containsExactly("12345", TOO_LONG, "1", TOO_LONG);
    }

    @ParameterizedTest
    @CsvSource({"'  \t\r', true", "'', true", "' x ', false"})
    void knowsBlankLines(String line, boolean blank) throws IOException {
        try (TraceReader.LineReader reader = new TraceReader.LineReader(text(line + "\n"), "t", 10)) {
            assertThat(reader.next()).isTrue();
            assertThat(reader.blank()).isEqualTo(blank);
        }
    }

    @Test
    void aLineThatIsTooLongIsNotBlank() throws IOException {
        try (TraceReader.LineReader reader = new TraceReader.LineReader(text(" ".repeat(20)), "t", 10)) {
            assertThat(reader.next()).isTrue();
            assertThat(reader.blank()).isFalse();
        }
    }

    @Test
    void anyLengthsAndAnyShortReadsGiveTheSameLines() throws IOException {
        Random random = new Random(3);
        for (int round = 0; round < 30; round++) {
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                int length = random.nextInt(4) == 0 ? random.nextInt(200_000) : random.nextInt(50);
                char[] line = new char[length];
                Arrays.fill(line, (char) ('a' + i));
                expected.add(new String(line));
            }
            InputStream in = new ShortReads(String.join("\n", expected) + "\n", random);
            assertThat(lines(in, 150_000))
                    .isEqualTo(expected.stream()
                            .map(line -> line.length() > 150_000 ? TOO_LONG : line)
                            .toList());
        }
    }

    /** Gives fewer bytes than were asked for, as a pipe does. */
    private static final class ShortReads extends ByteArrayInputStream {

        private final Random random;

        private ShortReads(String text, Random random) {
            super(text.getBytes(StandardCharsets.UTF_8));
            this.random = random;
        }

        @Override
        public int read(byte[] bytes) {
            return read(bytes, 0, 1 + random.nextInt(bytes.length));
        }
    }
}
