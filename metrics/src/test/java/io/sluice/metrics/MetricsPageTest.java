package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.PagePrograms;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The table of the page about metrics is that of {@link EngineMeter} and {@link GpuMeter}, and its programs are compiled ones. */
class MetricsPageTest {
    @Test
    void theTableIsMadeFromTheMeters() throws IOException {
        Documentation.check("meters", table());
    }

    @Test
    void theProgramsAreCompiledOnes() throws IOException {
        Path snippets = Path.of("src/test/java/io/sluice/metrics/snippets");
        PagePrograms.check(
                Path.of("../docs/metrics.md"),
                snippets.resolve("PlainMicrometerTest.java"),
                snippets.resolve("TransferEngineConfiguration.java"),
                Path.of("../reactive-api/reactor/src/test/java/io/sluice/reactor/snippets/ObservedWrite.java"));
    }

    private static String table() {
        StringBuilder table = new StringBuilder("""
                | meter | for Prometheus | type | tags | meaning |
                |---|---|---|---|---|
                """);
        for (ExportedMeter meter : MetricNames.meters().toList()) {
            List<String> tags = new ArrayList<>(List.of(EngineMeter.ENGINE_TAG));
            tags.addAll(meter.tags());
            table.append("| ")
                    .append(code(meter.meterName()))
                    .append(" | ")
                    .append(meter.prometheusNames().stream()
                            .map(MetricsPageTest::code)
                            .collect(Collectors.joining(" ")))
                    .append(" | ")
                    .append(meter.type())
                    .append(meter.unit().isEmpty() ? "" : ", " + meter.unit())
                    .append(" | ")
                    .append(tags.stream().map(MetricsPageTest::code).collect(Collectors.joining(" ")))
                    .append(" | ")
                    .append(meter.description())
                    .append(" |\n");
        }
        return table.toString();
    }

    @Test
    void namesAreUnique() {
        assertThat(MetricNames.meters().flatMap(meter -> meter.prometheusNames().stream()))
                .doesNotHaveDuplicates();
        assertThat(MetricNames.meters().map(ExportedMeter::meterName))
                .doesNotHaveDuplicates()
                .allMatch(name -> name.matches("sluice(\\.[a-z]+)+"));
    }

    private static String code(String text) {
        return "`" + text + "`";
    }
}
