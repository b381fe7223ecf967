package io.sluice.samples.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.fuzz.ParserFuzz;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A trace is a file from elsewhere. */
class TraceFuzzTest {
    private static final byte[] TRACE =
            ("{\"timestamp\": 10, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [1, 2]}\n"
                            + "\n"
                            + "{\"timestamp\": 10, \"input_length\": 1200, \"output_length\": 0, \"hash_ids\": [1, 2, 3],"
                            + " \"other\": {\"a\": [\"\\u00e4\", 1.5e3, null, true]}}\n"
                            + "{\"timestamp\": 27482, \"input_length\": 512, \"output_length\": 52, \"hash_ids\": [9]}")
                    .getBytes(StandardCharsets.UTF_8);

    @ParameterizedTest
    @EnumSource(TraceReader.Mode.class)
    void traces(TraceReader.Mode mode) {
        ParserFuzz.of("trace-" + mode.name().toLowerCase(Locale.ROOT))
                .valid(TRACE)
                .refusesBy(TraceFormatException.class)
                // a piece of the file and a line
                .having(256 << 10)
                .allocating(512)
                .run(input -> {
                    TraceReader reader = new TraceReader(new ByteArrayInputStream(input), "trace.jsonl", mode, 4_000);
                    long last = 0;
                    while (reader.hasNext()) {
                        TraceRequest request = reader.next();
                        assertThat(request.timestampMillis()).isGreaterThanOrEqualTo(last);
                        last = request.timestampMillis();
                    }
                });
    }
}
