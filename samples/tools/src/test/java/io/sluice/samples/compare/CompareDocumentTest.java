package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.ExpertMode;
import io.sluice.samples.browser.Chromium;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompareDocumentTest {

    private static final Comparison STREAM = chosen("write-1MiB/iperf3");
    private static final Comparison ROUND_TRIP = chosen("read-8B/ping-pong");
    private static final Comparison WITHOUT_GOAL = chosen("write-1MiB/memcpy");

    @Test
    void aLineHasBothMediansTheirRatioAndTheGoal() {
        CompareDocument report = report(
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
    void expertsOfGpusHaveALineForEachQuantity() {
        GpuExperts few = new GpuExperts(ExpertMode.LOW_LATENCY, true);
        Series ours = new Series();
        Series theirs = new Series();
        ours.add(few.figures(1024, 30, 50, 80));
        theirs.add(few.figures(1024, 120, 110, 200));
        CompareDocument report =
                report(Comparisons.chosen(List.of("gpu-low-latency-128-tokens-fp8"), List.of()).stream()
                        .map(comparison -> result(comparison, ours, theirs, null))
                        .toArray(ComparisonResult[]::new));
        assertThat(report.table().lines().map(line -> line.strip().replaceAll(" +", " ")))
                .contains(
                        "gpu-low-latency-128-tokens-fp8/dispatch-torch engine 1 30.00 120.00 dispatch us by"
                                + " device 0.25 <= 0.50 yes",
                        "gpu-low-latency-128-tokens-fp8/combine-torch engine 1 50.00 110.00 combine us by"
                                + " device 0.45 <= 0.50 yes",
                        "gpu-low-latency-128-tokens-fp8/round-torch engine 1 80.00 200.00 round us by"
                                + " device 0.40 <= 0.50 yes");
        assertThat(report.meetsGoals()).isTrue();
    }

    @Test
    void whatIsLeftOutIsNoFailureButMeetsNoGoal() {
        CompareDocument report = report(result(STREAM, new Series(), new Series(), "iperf3 is not here"));
        assertThat(report.table()).contains("-  >= 1.00  -", "left out: iperf3 is not");
        assertThat(report.isComplete()).isTrue();
        assertThat(report.meetsGoals()).isFalse();
    }

    @Test
    void aFailedRoundIsTold() {
        Series theirs = bandwidths(2, 4);
        theirs.addFailure("iperf3: the network is down");
        CompareDocument report = report(result(STREAM, bandwidths(3, 3, 3), theirs, null));
        assertThat(report.table()).contains("1.00", "    failed: iperf3: the network is down");
        assertThat(report.isComplete()).isFalse();
        assertThat(report.meetsGoals()).isTrue();
    }

    @Test
    void whatWasBrokenOffIsNotComplete() {
        CompareDocument report = document(true, result(STREAM, bandwidths(1), new Series(), null));
        assertThat(report.table()).contains("Interrupted");
        assertThat(report.isComplete()).isFalse();
    }

    @Test
    void theJsonHasAllRounds() throws IOException {
        Series theirs = bandwidths(5);
        theirs.addFailure("iperf3: no");
        CompareDocument report = report(result(STREAM, bandwidths(9, 1), theirs, null));
        JsonNode line = onlyComparison(report);
        assertThat(line.fieldNames())
                .toIterable()
                .containsExactly(
                        "topic",
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
                        "problem",
                        "failed");
        assertThat(line.get("topic").asText()).isEqualTo("large");
        assertThat(line.get("name").asText()).isEqualTo("write-1MiB/iperf3");
        assertThat(line.get("unit").asText()).isEqualTo("GB/s");
        assertThat(line.get("sluice").toString())
                .isEqualTo("{\"measured\":\"sluice write of 1 MiB over tcp, 32 in flight, engine API\",\"median\":5.0,"
                        + "\"rounds\":[9.0,1.0],\"commands\":[]}");
        assertThat(line.get("peer").get("commands").toString())
                .isEqualTo("[\"iperf3 -s\",\"A=1 B=2 iperf3 -c 'a b'\"]");
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
        Series theirs = ((FixedTarget) rate.theirs()).series();
        CompareDocument report = report(result(rate, rates(4_000_000, 6_000_000, 7_500_000), theirs, null));
        assertThat(report.table())
                .containsPattern(
                        "shm-write-8B/rate +engine +32 +6,000,000 +5,000,000 +transfers/s +1\\.20 +>= 1\\.00 +yes");
        assertThat(report.meetsGoals()).isTrue();
        JsonNode line = onlyComparison(report);
        assertThat(line.get("transport").asText()).isEqualTo("shm");
        assertThat(line.get("peer").toString())
                .isEqualTo("{\"measured\":\"5,000,000 transfers/s, a fixed figure\",\"median\":5000000.0,"
                        + "\"rounds\":[5000000.0],\"commands\":[]}");
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
        CompareDocument report = report(result(copies, ours, theirs, null));
        assertThat(report.table()).contains("0.90  >= 0.90  yes").containsOnlyOnce("the peer is gone");
        JsonNode line = onlyComparison(report);
        assertThat(line.get("ratio_of").asText()).isEqualTo("rounds");
        assertThat(line.get("peer").get("rounds").toString()).isEqualTo("[10.0,20.0,30.0,null]");
    }

    @Test
    void theJsonTellsWhatTheRunWasAndCanBeReadAgain() throws IOException {
        CompareDocument report = report(
                result(STREAM, bandwidths(9, 1), bandwidths(5), null),
                result(ROUND_TRIP, new Series(), new Series(), "no compiler"));
        JsonNode json = new ObjectMapper().readTree(report.json());
        assertThat(json.get("sluice").asText()).isEqualTo("1.2.3");
        assertThat(json.get("started").asText()).isEqualTo("2026-02-03T04:05:06Z");
        assertThat(json.get("machine").get("processors").asInt()).isEqualTo(2);
        assertThat(json.get("programs").get("iperf3").asText()).isEqualTo("iperf 3.12");
        assertThat(json.get("warmup_seconds").asDouble()).isEqualTo(1.5);
        assertThat(json.get("interrupted").asBoolean()).isFalse();
        CompareDocument again = CompareDocument.parse(report.json());
        assertThat(again).isEqualTo(report);
        assertThat(again.table()).isEqualTo(report.table());
        assertThat(again.title())
                .isEqualTo("medians of 5 rounds, 2 s after 1500 ms of warm-up; initiator on processor 0, target on 1");
    }

    @Test
    void whatIsNoResultIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CompareDocument.parse("[]"))
                .withMessageContaining("no result of 'compare --json'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CompareDocument.parse(report().json().replace("\"format\" : 1", "\"format\" : 2")))
                .withMessageContaining("format 2");
    }

    @Test
    void aGoalThatIsFarSurpassedDoesNotHideTheOthers() {
        List<Chart> charts = Chart.of(report(result(STREAM, bandwidths(400), bandwidths(4), null)));
        assertThat(charts.getFirst().series().getFirst().values()).containsExactly(3.0);
    }

    @Test
    void oneInFlightHasAChartOfItsOwn() {
        List<Chart> charts = Chart.of(report(
                result(chosen("write-8B/jucx"), rates(30), rates(10), null),
                result(chosen("write-8B/ceiling-alone"), rates(4), rates(2), null)));
        assertThat(charts).extracting(Chart::name).containsExactly("goals", "small-1", "small-2");
        assertThat(charts.get(1).series().getFirst().values()).containsExactly(30.0);
        assertThat(charts.get(2).series().getFirst().values()).containsExactly(4.0);
        assertThat(charts.get(2).title()).contains("one in flight");
    }

    @Test
    void chartsHaveTheGoalsAndTheFiguresOfEachTopic() {
        List<Chart> charts = Chart.of(report(
                result(STREAM, bandwidths(3), bandwidths(4), null),
                result(ROUND_TRIP, latency(2), latency(2), null),
                result(WITHOUT_GOAL, bandwidths(3), bandwidths(9), null)));
        assertThat(charts).extracting(Chart::name).containsExactly("goals", "large-1", "round-trips-2");
        assertThat(charts.getFirst().groups()).containsExactly("write-1MiB/iperf3 engine", "read-8B/ping-pong engine");
        assertThat(charts.getFirst().series().getFirst().values()).containsExactly(0.75, 1.25);
        assertThat(charts.get(1).groups()).containsExactly("write-1MiB");
        assertThat(charts.get(1).series())
                .extracting(Chart.Bars::name)
                .containsExactly("sluice, engine", "iperf3", "memcpy");
    }

    @Test
    void thePageIsOneFileThatEscapesWhatItShows() throws IOException {
        String page = ComparePage.of(report(result(STREAM, bandwidths(3), bandwidths(4), null)));
        assertThat(page).startsWith("<!DOCTYPE html>").doesNotContain("<!-- data -->", "<!-- library -->");
        // The library has tags in its strings.
        assertThat(page.substring(0, page.indexOf("id=\"data\""))).doesNotContain("src=", "href=");
        assertThat(page.split("</script>", -1)).hasSize(4);
        String text = page.substring(page.indexOf("id=\"data\">") + "id=\"data\">".length());
        JsonNode data = new ObjectMapper().readTree(text.substring(0, text.indexOf("</script>")));
        assertThat(data.get("facts").get("command").asText()).isEqualTo("./sluice compare --only </script>");
        assertThat(data.get("facts").get("cpu model").asText()).isEqualTo("Processor <1>");
        assertThat(data.get("facts").get("iperf3").asText()).isEqualTo("iperf 3.12");
        assertThat(data.get("rows").get(0).get("cells").get(0).asText()).isEqualTo("write-1MiB/iperf3");
        assertThat(data.get("commands").toString()).contains("A=1 B=2 iperf3 -c 'a b'");
        JsonNode charts = data.get("charts");
        assertThat(charts).hasSize(2);
        assertThat(charts.get(0).get("series").get(0).get("values").get(0).asDouble())
                .isEqualTo(0.75);
    }

    @Test
    @Tag("soak")
    void chartsAreDrawnAsImages(@TempDir Path folder) throws IOException {
        Chromium.assumeInstalled("no charts are drawn");
        List<Path> files = ChartImages.write(
                report(
                        result(STREAM, bandwidths(3), bandwidths(4), null),
                        result(ROUND_TRIP, latency(2), latency(2), null)),
                folder);
        assertThat(files)
                .extracting(file -> String.valueOf(file.getFileName()))
                .containsExactly("goals.png", "large-1.png", "round-trips-2.png");
        for (Path file : files) {
            BufferedImage image = ImageIO.read(file.toFile());
            assertThat(image.getWidth()).isGreaterThanOrEqualTo(1200);
            assertThat(colours(image)).as("bars are drawn in " + file).contains(0xFF0072B2);
        }
    }

    private static Set<Integer> colours(BufferedImage image) {
        return Arrays.stream(image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth()))
                .boxed()
                .collect(Collectors.toSet());
    }

    @Test
    void markdownIsPutBetweenItsMarksAndNothingElseIsChanged() {
        CompareDocument report = report(
                result(STREAM, bandwidths(3), bandwidths(4), null),
                result(ROUND_TRIP, new Series(), new Series(), "no | compiler"));
        String tables = CompareMarkdown.marked(report);
        assertThat(tables)
                .contains("Measured 2026-02-03 with sluice 1.2.3", "Processor <1>, processors: 2; iperf3: iperf 3.12.")
                .contains("### Large transfers over tcp")
                .contains("| `write-1MiB/iperf3` | engine | 3.000 | 4.000 | GB/s | 0.75 | >= 1.00 | NO |")
                .contains("left out: no \\| compiler |");
        String document = "# Performance\n\n" + tables.replace("0.75", "0.10") + "\nThe end.\n";
        assertThat(CompareMarkdown.renewed(document, report)).isEqualTo("# Performance\n\n" + tables + "\nThe end.\n");
        assertThat(CompareMarkdown.hasMarks("# Performance\n")).isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> CompareMarkdown.renewed("# Performance\n", report));
    }

    private static JsonNode onlyComparison(CompareDocument report) throws IOException {
        JsonNode comparisons = new ObjectMapper().readTree(report.json()).get("comparisons");
        assertThat(comparisons).hasSize(1);
        return comparisons.get(0);
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

    private static BenchEnvironment.CommandLog commands() {
        BenchEnvironment.CommandLog log = new BenchEnvironment.CommandLog(Path.of("/folder"));
        log.add(
                STREAM.theirs().label(),
                BenchEnvironment.CommandLog.Role.INITIATOR,
                Map.of("B", "2", "A", "1"),
                List.of("/folder/iperf3", "-c", "a b"));
        log.add(STREAM.theirs().label(), BenchEnvironment.CommandLog.Role.TARGET, Map.of(), List.of("iperf3", "-s"));
        return log;
    }

    private static Comparison chosen(String name) {
        return Comparisons.chosen(List.of(name), List.of()).getFirst();
    }

    private static CompareDocument report(ComparisonResult... results) {
        return document(false, results);
    }

    private static CompareDocument document(boolean interrupted, ComparisonResult... results) {
        JsonNode machine = new ObjectMapper()
                .createObjectNode()
                .put("cpu_model", "Processor <1>")
                .put("processors", 2);
        CompareDocument.RunDescription run = new CompareDocument.RunDescription(
                "1.2.3",
                Instant.parse("2026-02-03T04:05:06Z"),
                "./sluice compare --only </script>",
                machine,
                new Timing(5, Duration.ofSeconds(2), Duration.ofMillis(1500)),
                "initiator on processor 0, target on 1");
        return CompareDocument.of(run, Map.of("iperf3", "iperf 3.12"), interrupted, List.of(results));
    }

    private static ComparisonResult result(
            Comparison comparison, Series ours, Series theirs, @Nullable String leftOut) {
        return ComparisonResult.of(comparison, Api.ENGINE, ours, theirs, commands(), leftOut);
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
        series.add(Figures.of(Quantity.MEDIAN_MICROSECONDS, micros));
        return series;
    }
}
