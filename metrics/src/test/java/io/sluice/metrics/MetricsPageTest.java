package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of the page about metrics is that of {@link EngineMeter}, and its programs are compiled ones. */
class MetricsPageTest {
    private static final String BEGIN = "// begin\n";
    private static final String END = "// end\n";

    @Test
    void theTableIsMadeFromTheMeters() throws IOException {
        Documentation.check("meters", table());
    }

    @ParameterizedTest
    @CsvSource({
        "plain Micrometer, src/test/java/io/sluice/metrics/snippets/PlainMicrometerTest.java, '}'",
        "Spring Boot, src/test/java/io/sluice/metrics/snippets/TransferEngineConfiguration.java, ''",
        "Vert.x, src/test/java/io/sluice/metrics/snippets/VertxTest.java, ''"
    })
    void theProgramsAreCompiledOnes(String part, Path source, String closing) throws IOException {
        assertThat(source).isRegularFile();
        Documentation.check(
                "program: " + part, "```java\n" + program(Files.readString(source)) + closing(closing) + "```\n");
    }

    private static String closing(String brace) {
        return brace.isEmpty() ? "" : brace + "\n";
    }

    private static String program(String source) {
        String text = source.substring(source.indexOf(BEGIN) + BEGIN.length());
        // what stands before the last comment is its indentation, and an empty last line would count as one without any
        return text.substring(0, text.indexOf(END)).stripTrailing().stripIndent() + "\n";
    }

    private static String table() {
        StringBuilder table = new StringBuilder("""
                | meter | for Prometheus | type | tags | meaning |
                |---|---|---|---|---|
                """);
        for (EngineMeter meter : EngineMeter.values()) {
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
        assertThat(Arrays.stream(EngineMeter.values()).flatMap(meter -> meter.prometheusNames().stream()))
                .doesNotHaveDuplicates();
        assertThat(Arrays.stream(EngineMeter.values()).map(EngineMeter::meterName))
                .doesNotHaveDuplicates()
                .allMatch(name -> name.matches("sluice(\\.[a-z]+)+"));
    }

    private static String code(String text) {
        return "`" + text + "`";
    }
}
