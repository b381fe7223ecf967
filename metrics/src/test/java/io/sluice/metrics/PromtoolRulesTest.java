package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.testkit.Patience;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks the rules and the dashboard's expressions with promtool. */
class PromtoolRulesTest {
    private static final String RATE_INTERVAL = "1m";

    @TempDir
    private Path folder;

    @BeforeAll
    static void findPromtool() {
        boolean found = Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(bin -> Files.isExecutable(Path.of(bin, "promtool")));
        assumeTrue(found, "promtool is missing: apt-get install prometheus, or ./sluice test, brings it");
    }

    @Test
    void theRulesAreValid() throws Exception {
        promtool("check", "rules", ShippedFile.RULES.path().toString());
    }

    @Test
    void theAlertsFireWhenTheyShouldAndOnlyThen() throws Exception {
        promtool("test", "rules", ShippedFile.RULES_TEST.path().toString());
    }

    @Test
    void everyExpressionOfTheDashboardIsValid() throws Exception {
        List<Map<String, String>> rules = new ArrayList<>();
        for (Dashboard.Panel panel : Dashboard.read().panels()) {
            panel.queries()
                    .forEach(query -> rules.add(Map.of(
                            "record",
                            "panel:" + panel.id() + ":"
                                    + query.json().path("refId").asText(),
                            "expr",
                            query.expressionOver(RATE_INTERVAL))));
        }
        // JSON is YAML
        Path file = folder.resolve("panels.yaml");
        new ObjectMapper()
                .writeValue(file.toFile(), Map.of("groups", List.of(Map.of("name", "dashboard", "rules", rules))));
        assertThat(promtool("check", "rules", file.toString())).contains(rules.size() + " rules found");
    }

    private String promtool(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("promtool"));
        command.addAll(List.of(arguments));
        Path output = folder.resolve("output.txt");
        Process promtool = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            Patience.exit(promtool);
        } finally {
            promtool.destroyForcibly();
        }
        String said = Files.readString(output);
        assertThat(promtool.exitValue()).as(said).isZero();
        return said;
    }
}
