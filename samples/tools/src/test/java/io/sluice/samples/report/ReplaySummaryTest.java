package io.sluice.samples.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class ReplaySummaryTest {

    private static final ReplaySummary SUMMARY = new ReplaySummary(
            "llama-3.1-8b",
            "shm",
            false,
            100,
            2,
            3_000,
            1_000,
            0,
            196_620_000,
            196_608_000,
            0.5,
            null,
            new ReplaySummary.TransferMillis(0.1, 0.25, 1.5, 12.3456),
            256,
            64L << 20,
            3,
            7,
            192);

    private static final ReplaySummary NOTHING = new ReplaySummary(
            "m", "tcp", true, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, new ReplaySummary.TransferMillis(0, 0, 0, 0), 0, 0, 0, 0, 0);

    @Test
    void jsonHasTheFieldsInSnakeCase() throws JsonProcessingException {
        String json = SUMMARY.toJson();
        JsonNode node = new ObjectMapper().readTree(json);
        List<String> names = new ArrayList<>();
        node.fieldNames().forEachRemaining(names::add);
        assertThat(names)
                .containsExactly(
                        "model",
                        "transport",
                        "interrupted",
                        "requests",
                        "trace_lines_skipped",
                        "pages_moved",
                        "pages_reused",
                        "cache_hit_rate",
                        "corrupted_pages",
                        "bytes",
                        "page_bytes",
                        "seconds",
                        "gigabytes_per_second",
                        "transfer_ms",
                        "max_inflight_ops_seen",
                        "max_inflight_bytes_seen",
                        "reconnects",
                        "requests_repeated",
                        "pages_repeated");
        assertThat(json).doesNotContain("\n");
        assertThat(node.get("model").asText()).isEqualTo("llama-3.1-8b");
        assertThat(node.get("transport").asText()).isEqualTo("shm");
        assertThat(node.get("interrupted").asBoolean(true)).isFalse();
        assertThat(node.get("requests").asLong()).isEqualTo(100);
        assertThat(node.get("trace_lines_skipped").asLong()).isEqualTo(2);
        assertThat(node.get("pages_moved").asLong()).isEqualTo(3_000);
        assertThat(node.get("pages_reused").asLong()).isEqualTo(1_000);
        assertThat(node.get("cache_hit_rate").asDouble()).isEqualTo(0.25);
        assertThat(node.get("corrupted_pages").asLong()).isZero();
        assertThat(node.get("bytes").asLong()).isEqualTo(196_620_000);
        assertThat(node.get("page_bytes").asLong()).isEqualTo(196_608_000);
        assertThat(node.get("seconds").asDouble()).isEqualTo(0.5);
        assertThat(node.get("gigabytes_per_second").asDouble()).isCloseTo(0.39324, within(1e-9));
        assertThat(node.get("transfer_ms").toString())
                .isEqualTo("{\"p50\":0.1,\"p90\":0.25,\"p99\":1.5,\"max\":12.3456}");
        assertThat(node.get("max_inflight_ops_seen").asLong()).isEqualTo(256);
        assertThat(node.get("max_inflight_bytes_seen").asLong()).isEqualTo(64L << 20);
        assertThat(node.get("reconnects").asLong()).isEqualTo(3);
        assertThat(node.get("requests_repeated").asLong()).isEqualTo(7);
        assertThat(node.get("pages_repeated").asLong()).isEqualTo(192);
    }

    @Test
    void writesAloneAreToldWhereTheyWereMeasured() throws JsonProcessingException {
        ReplaySummary separate = new ReplaySummary(
                "m",
                "shm",
                false,
                1,
                0,
                1,
                0,
                0,
                3_000_000_000L,
                2_999_000_000L,
                4,
                1.5,
                new ReplaySummary.TransferMillis(1, 1, 1, 1),
                1,
                1,
                0,
                0,
                0);
        JsonNode node = new ObjectMapper().readTree(separate.toJson());
        assertThat(node.get("write_seconds").asDouble()).isEqualTo(1.5);
        assertThat(node.get("write_gigabytes_per_second").asDouble()).isCloseTo(2, within(1e-9));
        assertThat(node.get("gigabytes_per_second").asDouble()).isCloseTo(0.75, within(1e-9));
        assertThat(ReplaySummary.ReplaySummaryTable.render(separate)).contains("writes alone         2.000 GB/s\n");
        assertThat(ReplaySummary.ReplaySummaryTable.render(SUMMARY)).doesNotContain("writes alone");
    }

    @Test
    void nothingMovedIsZeroAndNotNaN() throws JsonProcessingException {
        JsonNode node = new ObjectMapper().readTree(NOTHING.toJson());
        assertThat(node.get("gigabytes_per_second").asDouble(-1)).isZero();
        assertThat(node.get("write_gigabytes_per_second").asDouble(-1)).isZero();
        assertThat(node.get("cache_hit_rate").asDouble(-1)).isZero();
        assertThat(node.get("gigabytes_per_second").isNumber()).isTrue();
    }

    @Test
    void percentilesComeFromNanoseconds() {
        Histogram nanos = new Histogram(3);
        for (int i = 1; i <= 1000; i++) {
            nanos.recordValue(i * 10_000L);
        }
        ReplaySummary.TransferMillis millis = ReplaySummary.TransferMillis.of(nanos);
        assertThat(millis.p50()).isCloseTo(5, within(0.01));
        assertThat(millis.p90()).isCloseTo(9, within(0.01));
        assertThat(millis.p99()).isCloseTo(9.9, within(0.01));
        assertThat(millis.max()).isCloseTo(10, within(0.01)).isGreaterThanOrEqualTo(millis.p99());
        assertThat(ReplaySummary.TransferMillis.of(new Histogram(3)))
                .isEqualTo(new ReplaySummary.TransferMillis(0, 0, 0, 0));
    }

    @Test
    void theTableShowsTheSameForPeopleInAnyLocale() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.GERMANY);
            assertThat(ReplaySummary.ReplaySummaryTable.render(SUMMARY)).isEqualTo("""
                model                llama-3.1-8b
                transport            shm
                requests             100
                trace lines skipped  2
                pages moved          3,000
                pages reused         1,000
                cache hits           25.0 %
                corrupted pages      0
                bytes moved          196,620,000 (187.5 MiB)
                of them pages        196,608,000 (187.5 MiB)
                time                 0.500 s
                throughput           0.393 GB/s
                transfer p50         0.100 ms
                transfer p90         0.250 ms
                transfer p99         1.500 ms
                transfer max         12.346 ms
                most in flight       256 operations, 64 MiB
                reconnects           3
                requests repeated    7
                pages repeated       192
                """);
            assertThat(ReplaySummary.ReplaySummaryTable.render(NOTHING))
                    .contains("0 (interrupted)")
                    .doesNotContain("skipped", "NaN");
        } finally {
            Locale.setDefault(before);
        }
    }
}
