package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.bench.Api;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CompareReportTest {

    private static final Comparison STREAM = chosen("write-1MiB/iperf3");
    private static final Comparison ROUND_TRIP = chosen("read-8B/ping-pong");
    private static final Comparison WITHOUT_GOAL = chosen("write-1MiB/memcpy");

    @Test
    void aLineHasBothMediansTheirRatioAndTheGoal() {
        CompareReport report = report(
                result(STREAM, bandwidths(9, 1, 4), bandwidths(3, 4, 4), null),
                result(ROUND_TRIP, latency(6.4), latency(2), null),
                result(WITHOUT_GOAL, bandwidths(5), bandwidths(50), null));
        assertThat(report.table()).isEqualToNormalizingNewlines("""
                        comparison           api      in flight       sluice         peer  unit          ratio  goal     met
                        write-1MiB/iperf3    engine          32        4.000        4.000  GB/s           1.00  >= 1.00  yes
                        read-8B/ping-pong    engine           1         6.40         2.00  us p50         3.20  <= 1.25  NO
                        write-1MiB/memcpy    engine          32        5.000       50.000  GB/s           0.10
                        """);
        assertThat(report.isComplete()).isTrue();
        assertThat(report.meetsGoals()).isFalse();
    }

    @Test
    void whatIsLeftOutIsNoFailureButMeetsNoGoal() {
        CompareReport report = report(result(STREAM, new Series(), new Series(), "iperf3 is not here"));
        assertThat(report.table()).contains("-  >= 1.00  -", "left out: iperf3 is not");
        assertThat(report.isComplete()).isTrue();
        assertThat(report.meetsGoals()).isFalse();
    }

    @Test
    void aFailedRoundIsTold() {
        Series theirs = bandwidths(2, 4);
        theirs.addFailure("iperf3: the network is down");
        CompareReport report = report(result(STREAM, bandwidths(3, 3, 3), theirs, null));
        assertThat(report.table()).contains("1.00", "    failed: iperf3: the network is down");
        assertThat(report.isComplete()).isFalse();
        assertThat(report.meetsGoals()).isTrue();
    }

    @Test
    void whatWasBrokenOffIsNotComplete() {
        CompareReport report = new CompareReport(List.of(result(STREAM, bandwidths(1), new Series(), null)), true);
        assertThat(report.table()).contains("Interrupted");
        assertThat(report.isComplete()).isFalse();
    }

    @Test
    void theJsonHasAllRounds() throws IOException {
        Series theirs = bandwidths(5);
        theirs.addFailure("iperf3: no");
        CompareReport report = report(result(STREAM, bandwidths(9, 1), theirs, null));
        assertThat(report.json().lines()).hasSize(1);
        JsonNode line = new ObjectMapper().readTree(report.json());
        assertThat(line.fieldNames())
                .toIterable()
                .containsExactly(
                        "name",
                        "api",
                        "op",
                        "transport",
                        "size",
                        "inflight",
                        "unit",
                        "sluice",
                        "peer",
                        "ratio",
                        "ratio_of",
                        "goal",
                        "met",
                        "problem");
        assertThat(line.get("name").asText()).isEqualTo("write-1MiB/iperf3");
        assertThat(line.get("unit").asText()).isEqualTo("GB/s");
        assertThat(line.get("sluice").toString())
                .isEqualTo("{\"measured\":\"sluice write of 1 MiB over tcp, 32 in flight, engine API\",\"median\":5.0,"
                        + "\"rounds\":[9.0,1.0]}");
        assertThat(line.get("transport").asText()).isEqualTo("tcp");
        assertThat(line.get("peer").get("rounds").toString()).isEqualTo("[5.0,null]");
        assertThat(line.get("ratio").asDouble()).isEqualTo(1);
        assertThat(line.get("goal").toString()).isEqualTo("{\"at_least\":1.0}");
        assertThat(line.get("met").asBoolean()).isTrue();
        assertThat(line.get("problem").asText()).isEqualTo("failed: iperf3: no");
    }

    @Test
    void aFixedFigureStandsWhereAnotherProgramsWould() throws IOException {
        Comparison rate = chosen("shm-write-8B/rate");
        Series theirs = ((Mark) rate.theirs()).series();
        CompareReport report = report(result(rate, rates(4_000_000, 6_000_000, 7_500_000), theirs, null));
        assertThat(report.table())
                .containsPattern(
                        "shm-write-8B/rate +engine +32 +6,000,000 +5,000,000 +transfers/s +1\\.20 +>= 1\\.00 +yes");
        assertThat(report.meetsGoals()).isTrue();
        JsonNode line = new ObjectMapper().readTree(report.json());
        assertThat(line.get("transport").asText()).isEqualTo("shm");
        assertThat(line.get("peer").toString())
                .isEqualTo("{\"measured\":\"5,000,000 transfers/s, a fixed figure\",\"median\":5000000.0,"
                        + "\"rounds\":[5000000.0]}");
    }

    @Test
    void whatIsMeasuredInPairsIsComparedRoundByRound() throws IOException {
        Comparison copies = chosen("shm-write-1MiB/memcpy");
        Series ours = new Series();
        ours.add(besideCopies(10, 10));
        ours.add(besideCopies(18, 20));
        ours.add(besideCopies(24, 30));
        ours.addFailure("bench: the peer is gone");
        Series theirs = SameMemoryCopy.in(ours);
        CompareReport report = report(result(copies, ours, theirs, null));
        assertThat(report.table()).contains("0.90  >= 0.90  yes").containsOnlyOnce("the peer is gone");
        JsonNode line = new ObjectMapper().readTree(report.json());
        assertThat(line.get("ratio_of").asText()).isEqualTo("rounds");
        assertThat(line.get("peer").get("rounds").toString()).isEqualTo("[10.0,20.0,30.0,null]");
    }

    private static Figures besideCopies(double ours, double copies) {
        return new Figures(Map.of(Quantity.GIGABYTES_PER_SECOND, ours, Quantity.MEMCPY_GIGABYTES_PER_SECOND, copies));
    }

    @Test
    void aLongNameMakesTheColumnWider() {
        Comparison crossMemory = chosen("cross-memory-write-1MiB/process-vm-writev");
        String[] lines = report(
                        result(STREAM, bandwidths(4), bandwidths(5), null),
                        result(crossMemory, bandwidths(9), bandwidths(10), null))
                .table()
                .split("\\R", -1);
        assertThat(lines[0].indexOf(" api")).isEqualTo(lines[2].indexOf(" engine"));
        assertThat(lines[1].indexOf(" engine")).isEqualTo(lines[2].indexOf(" engine"));
        assertThat(lines[2]).contains("0.90  >= 0.90  yes");
    }

    private static Comparison chosen(String name) {
        return Comparisons.chosen(List.of(name), List.of()).getFirst();
    }

    private static CompareReport report(ComparisonResult... results) {
        return new CompareReport(List.of(results), false);
    }

    private static ComparisonResult result(
            Comparison comparison, Series ours, Series theirs, @Nullable String leftOut) {
        return ComparisonResult.of(comparison, Api.ENGINE, ours, theirs, leftOut);
    }

    private static Series bandwidths(double... gigabytesPerSecond) {
        Series series = new Series();
        for (double value : gigabytesPerSecond) {
            series.add(Figures.ofBandwidth(value));
        }
        return series;
    }

    private static Series rates(double... transfersPerSecond) {
        Series series = new Series();
        for (double value : transfersPerSecond) {
            series.add(Figures.ofRate(value, 8));
        }
        return series;
    }

    private static Series latency(double micros) {
        Series series = new Series();
        series.add(Figures.ofLatency(micros));
        return series;
    }
}
