package io.sluice.samples.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sluice.samples.kvcache.BlockHashes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class TraceReaderTest {

    private static final String GOOD =
            "{\"timestamp\": 10, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [1, 2]}";

    private static TraceReader reader(String text, TraceReader.Mode mode) {
        return new TraceReader(
                new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), "trace.jsonl", mode, 4_000);
    }

    private static List<TraceRequest> readAll(TraceReader reader) {
        List<TraceRequest> requests = new ArrayList<>();
        reader.forEachRemaining(requests::add);
        return requests;
    }

    @Test
    void readsTheFields() {
        assertThat(readAll(reader(GOOD, TraceReader.Mode.STRICT)))
                .containsExactly(new TraceRequest(10, 600, 5, BlockHashes.of(1, 2)));
    }

    @Test
    void ignoresBlankLinesOtherFieldsAndTheOrderOfFields() {
        String other = "{\"hash_ids\":[9],\"chat\":{\"a\":[1,{\"b\":null}]},\"output_length\":0,\"input_length\":512,"
                + "\"timestamp\":10,\"type\":\"text\"}";
        List<TraceRequest> requests =
                readAll(reader("\n  \r\n" + GOOD + "\r\n\n" + other + "\n\n\t\n", TraceReader.Mode.STRICT));
        assertThat(requests).hasSize(2);
        assertThat(requests.getLast()).isEqualTo(new TraceRequest(10, 512, 0, BlockHashes.of(9)));
    }

    @Test
    void takesAByteOrderMark() {
        assertThat(readAll(reader("\uFEFF" + GOOD, TraceReader.Mode.STRICT))).hasSize(1);
    }

    @Test
    void aByteOrderMarkIsNoPartOfTheFirstLine() {
        assertThat(readAll(reader("\uFEFF\r\n" + GOOD, TraceReader.Mode.STRICT)))
                .hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(TraceReader.Mode.class)
    void utf16IsNamed(TraceReader.Mode mode) {
        byte[] bytes = GOOD.getBytes(StandardCharsets.UTF_16);
        assertThatThrownBy(new TraceReader(new ByteArrayInputStream(bytes), "trace.jsonl", mode)::hasNext)
                .isInstanceOf(TraceFormatException.class)
                .hasMessage("trace.jsonl begins with the byte-order mark of UTF-16 or UTF-32; save it as UTF-8");
    }

    @ParameterizedTest
    @CsvSource({"0.0, 0", "12.5, 13", "12.25, 12", "1e3, 1000", "-0.0, 0", "9007199254740990.0, 9007199254740990"})
    void timestampsMayHaveDecimals(String written, long millis) {
        assertThat(readAll(reader(line("timestamp", written), TraceReader.Mode.STRICT)))
                .extracting(TraceRequest::timestampMillis)
                .containsExactly(millis);
    }

    @Test
    void hashesHave64BitsWithASignOrWithout() {
        assertThat(readAll(reader(
                        line("hash_ids", "[9223372036854775808, 18446744073709551615]")
                                + "\n"
                                + line("hash_ids", "[-9223372036854775808, -2]"),
                        TraceReader.Mode.STRICT)))
                .extracting(TraceRequest::blockHashes)
                .containsExactly(BlockHashes.of(Long.MIN_VALUE, -1), BlockHashes.of(Long.MIN_VALUE, -2));
    }

    @Test
    void aFilePackedByGzipIsUnpacked(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("trace.jsonl");
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        // two members, as gzip appends
        for (int i = 0; i < 2; i++) {
            try (OutputStream out = new GZIPOutputStream(packed)) {
                out.write(("\uFEFF".repeat(1 - i) + GOOD + "\r\n").getBytes(StandardCharsets.UTF_8));
            }
        }
        Files.write(file, packed.toByteArray());
        try (TraceReader reader = TraceReader.open(file, TraceReader.Mode.STRICT)) {
            assertThat(readAll(reader)).hasSize(2);
        }
        Files.write(file, Arrays.copyOf(packed.toByteArray(), packed.size() - 9));
        try (TraceReader reader = TraceReader.open(file, TraceReader.Mode.STRICT)) {
            assertThatThrownBy(() -> readAll(reader))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessage(file + ": the gzip file is cut off; copy it again");
        }
        Files.write(file, Arrays.copyOf(packed.toByteArray(), 2));
        assertThatThrownBy(() -> TraceReader.open(file, TraceReader.Mode.STRICT))
                .isInstanceOf(IOException.class)
                .hasMessage(file + ": the gzip file is cut off; copy it again");
    }

    @Test
    void takesTheLargestValues() {
        String line = "{\"timestamp\":9007199254740991,\"input_length\":512,\"output_length\":16777216,"
                + "\"hash_ids\":[9223372036854775807]}";
        assertThat(readAll(reader(line, TraceReader.Mode.STRICT)))
                .containsExactly(new TraceRequest(9007199254740991L, 512, 16777216, BlockHashes.of(Long.MAX_VALUE)));
    }

    static Stream<Arguments> malformedLines() {
        return Stream.of(
                Arguments.of("{\"timestamp\": 0", "bad JSON"),
                Arguments.of("{\"timestamp\": 0,}", "bad JSON"),
                Arguments.of("not json", "bad JSON"),
                Arguments.of("{'timestamp': 0}", "bad JSON"),
                Arguments.of("[1, 2]", "not a JSON object"),
                Arguments.of("17", "not a JSON object"),
                Arguments.of("null", "not a JSON object"),
                Arguments.of(GOOD + GOOD, "more than one JSON value"),
                Arguments.of(GOOD + "]", "bad JSON"),
                Arguments.of("{}", "missing timestamp, input_length, output_length, hash_ids"),
                Arguments.of(line("timestamp", null), "missing timestamp"),
                Arguments.of(line("input_length", null), "missing input_length"),
                Arguments.of(line("output_length", null), "missing output_length"),
                Arguments.of(line("hash_ids", null), "missing hash_ids"),
                Arguments.of(line("timestamp", "-1"), "timestamp has -1, which is not between 0 and"),
                Arguments.of(line("timestamp", "9007199254740992"), "timestamp has 9007199254740992"),
                Arguments.of(line("timestamp", "99999999999999999999999"), "timestamp has 99999999999999999999999"),
                Arguments.of(line("timestamp", "-0.5"), "timestamp has -0.5, which is not between 0 and"),
                Arguments.of(line("timestamp", "1e16"), "timestamp has 1e16, which is not between 0 and"),
                Arguments.of(line("timestamp", "1e999"), "timestamp has 1e999, which is not between 0 and"),
                Arguments.of(line("input_length", "600.0"), "input_length has 600.0 where a whole number belongs"),
                Arguments.of(line("timestamp", "NaN"), "timestamp has NaN where a number belongs"),
                Arguments.of(line("timestamp", "-Infinity"), "timestamp has -Infinity where"),
                Arguments.of(line("timestamp", "\"10\""), "timestamp has a string where"),
                Arguments.of(line("timestamp", "null"), "timestamp has null where"),
                Arguments.of(line("timestamp", "true"), "timestamp has true where"),
                Arguments.of(line("timestamp", "{}"), "timestamp has an object where"),
                Arguments.of(line("timestamp", "[]"), "timestamp has an array where"),
                Arguments.of(line("timestamp", "0010"), "bad JSON"),
                Arguments.of(line("input_length", "0"), "input_length has 0, which is not between 1 and 16777216"),
                Arguments.of(line("input_length", "-600"), "input_length has -600"),
                Arguments.of(line("input_length", "16777217"), "input_length has 16777217"),
                Arguments.of(line("input_length", "4294967896"), "input_length has 4294967896"),
                Arguments.of(line("output_length", "-1"), "output_length has -1"),
                Arguments.of(line("output_length", "16777217"), "output_length has 16777217"),
                Arguments.of(line("hash_ids", "[]"), "hash_ids has 0 elements, but an input_length of 600 is 2 blocks"),
                Arguments.of(line("hash_ids", "[1]"), "hash_ids has 1 elements"),
                Arguments.of(line("hash_ids", "[1, 2, 3]"), "hash_ids has 3 elements"),
                Arguments.of(line("hash_ids", "[1, 2.0]"), "hash_ids has 2.0 where"),
                Arguments.of(line("hash_ids", "[1, null]"), "hash_ids has null where"),
                Arguments.of(line("hash_ids", "[1, [2]]"), "hash_ids has an array where"),
                Arguments.of(line("hash_ids", "[1, 18446744073709551616]"), "hash_ids has 18446744073709551616"),
                Arguments.of(line("hash_ids", "[1, -9223372036854775809]"), "hash_ids has -9223372036854775809"),
                Arguments.of(line("hash_ids", "7"), "hash_ids is 7, not an array"),
                Arguments.of(line("hash_ids", "null"), "hash_ids is null, not an array"),
                Arguments.of(line("hash_ids", "\"x\""), "hash_ids is a string, not an array"),
                Arguments.of(line("hash_ids", "[1, 2"), "hash_ids has a string"),
                Arguments.of("{\"timestamp\":1,\"timestamp\":1}", "uplicate"),
                Arguments.of("{\"x\":1,\"x\":1}", "uplicate"),
                Arguments.of(line("x", "[".repeat(1500)), "bad JSON"),
                Arguments.of(line("timestamp", "1".repeat(2000)), "Number value length (2000) exceeds"),
                Arguments.of("\u0000\u0000\u0000{", "bad JSON"),
                Arguments.of("x".repeat(4_001), "longer than 4000 bytes"),
                Arguments.of(line("timestamp", "9"), "timestamp 9 is before the 10 of line 1"));
    }

    /** The good line with one field replaced, or left out if the value is null. */
    private static String line(String field, String value) {
        StringBuilder line = new StringBuilder("{\"other\": 0");
        append(line, "timestamp", field, value, "10");
        append(line, "input_length", field, value, "600");
        append(line, "output_length", field, value, "5");
        append(line, "hash_ids", field, value, "[1, 2]");
        append(line, "x", field, value, "0");
        return line.append('}').toString();
    }

    private static void append(StringBuilder line, String name, String field, String value, String usual) {
        String written = name.equals(field) ? value : usual;
        if (written != null) {
            line.append(", \"").append(name).append("\": ").append(written);
        }
    }

    @ParameterizedTest
    @MethodSource("malformedLines")
    void aMalformedLineIsNamed(String line, String reason) {
        TraceReader reader = reader(GOOD + "\n\n" + line + "\n" + GOOD + "\n", TraceReader.Mode.STRICT);
        assertThat(reader.next()).isNotNull();
        TraceFormatException e = catchThrowableOfType(TraceFormatException.class, reader::hasNext);
        assertThat(e).hasMessageStartingWith("trace.jsonl, line 3: ").hasMessageContaining(reason);
        assertThat(e.getMessage())
                .doesNotContain("Source", "JsonReadFeature", "Constraints", "line: 1")
                .hasSizeLessThan(700);
        assertThat(e.line()).isEqualTo(3);
        assertThatThrownBy(reader::next).as("it does not go on").isSameAs(e);
    }

    @ParameterizedTest
    @MethodSource("malformedLines")
    void aLenientReaderLeavesItOut(String line, String reason) {
        TraceReader reader = reader(GOOD + "\n\n" + line + "\n" + GOOD + "\n", TraceReader.Mode.LENIENT);
        assertThat(readAll(reader)).hasSize(2);
        assertThat(reader.skipped().count()).isEqualTo(1);
        assertThat(reader.skipped().descriptions())
                .singleElement()
                .satisfies(description ->
                        assertThat(description).startsWith("line 3: ").contains(reason));
    }

    @Test
    void textThatIsNotUtf8IsMalformed() {
        byte[] bytes = (GOOD + "\n" + line("x", "\"?\"")).getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = bytes[i] == '?' ? (byte) 0xFF : bytes[i];
        }
        TraceReader reader = new TraceReader(new ByteArrayInputStream(bytes), "t", TraceReader.Mode.STRICT);
        reader.next();
        assertThatThrownBy(reader::next)
                .isInstanceOf(TraceFormatException.class)
                .hasMessageStartingWith("t, line 2: bad JSON");
    }

    @Test
    void aLenientReaderDescribesOnlyTheFirstLines() {
        TraceReader reader = reader("x\n".repeat(1000) + GOOD + "\n", TraceReader.Mode.LENIENT);
        assertThat(readAll(reader)).hasSize(1);
        assertThat(reader.skipped().count()).isEqualTo(1000);
        assertThat(reader.skipped().descriptions()).hasSize(TraceSource.SkippedLines.DESCRIBED);
    }

    @Test
    void anEmptyTraceIsAnError() {
        for (String empty : List.of("", "\n", " \n\t\r\n")) {
            TraceReader reader = reader(empty, TraceReader.Mode.LENIENT);
            TraceFormatException e = catchThrowableOfType(TraceFormatException.class, reader::hasNext);
            assertThat(e).hasMessage("trace.jsonl: the trace is empty: it has no requests");
            assertThat(e.line()).isZero();
            assertThatThrownBy(reader::hasNext).isSameAs(e);
        }
    }

    @Test
    void aTraceOfOnlyMalformedLinesIsAnError() {
        assertThatThrownBy(() -> reader("x\ny\n", TraceReader.Mode.LENIENT).hasNext())
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("no valid request: 2 malformed lines were skipped, first line 1: bad JSON");
    }

    @Test
    void endsOnce() {
        TraceReader reader = reader(GOOD, TraceReader.Mode.STRICT);
        assertThat(reader.hasNext()).isTrue();
        assertThat(reader.hasNext()).isTrue();
        reader.next();
        assertThat(reader.hasNext()).isFalse();
        assertThat(reader.hasNext()).isFalse();
        assertThatThrownBy(reader::next).isInstanceOf(NoSuchElementException.class);
    }

    @Test
    void readsAFileAndClosesItsStream(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("trace.jsonl"), GOOD + "\nx\n");
        try (TraceReader reader = TraceReader.open(file, TraceReader.Mode.STRICT)) {
            reader.next();
            assertThatThrownBy(reader::next).hasMessageStartingWith(file + ", line 2: ");
        }
        assertThatThrownBy(() -> TraceReader.open(folder.resolve("none"), TraceReader.Mode.STRICT))
                .isInstanceOf(NoSuchFileException.class);
        AtomicBoolean closed = new AtomicBoolean();
        InputStream in = new ByteArrayInputStream(new byte[0]) {
            @Override
            public void close() {
                closed.set(true);
            }
        };
        new TraceReader(in, "t", TraceReader.Mode.STRICT).close();
        assertThat(closed).isTrue();
    }

    @Test
    void aReadErrorIsReportedAsSuch() {
        InputStream broken = new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("disk on fire");
            }
        };
        assertThatThrownBy(() -> new TraceReader(broken, "t", TraceReader.Mode.LENIENT).hasNext())
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("t: disk on fire");
    }

    @Test
    void damagedLinesNeverCauseAnythingElse() {
        Random random = new Random(11);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = GOOD.getBytes(StandardCharsets.UTF_8);
            for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            TraceReader reader = new TraceReader(new ByteArrayInputStream(bytes), "t", TraceReader.Mode.STRICT);
            try {
                reader.forEachRemaining(
                        request -> assertThat(request.inputTokens()).isPositive());
            } catch (TraceFormatException expected) {
                assertThat(expected).hasMessageStartingWith("t");
            }
        }
    }

    @Test
    void theDefaultBoundIsSixteenMebibytes() {
        byte[] line = new byte[TraceReader.MAX_LINE_BYTES + 1];
        Arrays.fill(line, (byte) 'x');
        TraceReader reader = new TraceReader(new ByteArrayInputStream(line), "t", TraceReader.Mode.STRICT);
        assertThatThrownBy(reader::hasNext).hasMessage("t, line 1: longer than 16777216 bytes");
    }

    @Test
    void aRequestOfTheLongestInputFits() {
        StringBuilder ids = new StringBuilder("[0");
        for (int i = 1; i < RequestParser.MAX_TOKENS / 512; i++) {
            ids.append(',').append(Long.MAX_VALUE - i);
        }
        String line = line("hash_ids", ids.append(']').toString()).replace(": 600", ": 16777216");
        TraceReader reader = new TraceReader(
                new ByteArrayInputStream(line.getBytes(StandardCharsets.UTF_8)), "t", TraceReader.Mode.STRICT);
        assertThat(reader.next().blockHashes().size()).isEqualTo(32_768);
        String longer = line.replace("[0,", "[0,0,");
        TraceReader refusing = new TraceReader(
                new ByteArrayInputStream(longer.getBytes(StandardCharsets.UTF_8)), "t", TraceReader.Mode.STRICT);
        assertThatThrownBy(refusing::next).hasMessageContaining("hash_ids has more than 32768 elements");
    }
}
