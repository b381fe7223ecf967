package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.engine.ErrorKind;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The rules for Prometheus, their runbooks, and what both speak of. */
class AlertRulesTest {
    private static final String RUNBOOKS = "docs/runbooks.md#";
    private static final Pattern HEADING = Pattern.compile("^## (\\w+)$", Pattern.MULTILINE);
    private static final Pattern EMPHASIS = Pattern.compile("(?<!\\*)\\*([^*\\n]+)\\*(?!\\*)");

    private static final List<JsonNode> RULES = Dashboard.children(
                    ShippedFile.RULES.yaml().path("groups"))
            .flatMap(group -> Dashboard.children(group.path("rules")))
            .toList();

    @Test
    void everyAlertSaysHowBadItIsAndWhatToDo() {
        assertThat(alerts()).isNotEmpty().allSatisfy(alert -> {
            assertThat(alert.path("alert").asText()).startsWith("Sluice");
            assertThat(alert.at("/labels/severity").asText()).isIn("critical", "warning");
            assertThat(alert.at("/annotations/summary").asText()).isNotBlank();
            assertThat(alert.at("/annotations/description").asText()).endsWith(".");
            assertThat(alert.at("/annotations/runbook_url").asText())
                    .isEqualTo(RUNBOOKS + alert.path("alert").asText().toLowerCase(Locale.ROOT));
        });
    }

    @Test
    void everyAlertHasItsRunbookAndItsTest() {
        List<String> names =
                alerts().stream().map(alert -> alert.path("alert").asText()).toList();
        assertThat(names).doesNotHaveDuplicates();
        assertThat(HEADING.matcher(ShippedFile.RUNBOOKS.text()).results().map(heading -> heading.group(1)))
                .containsExactlyElementsOf(names);
        assertThat(names).allSatisfy(name -> {
            List<JsonNode> expectations = Dashboard.children(
                            ShippedFile.RULES_TEST.yaml().path("tests"))
                    .flatMap(test -> Dashboard.children(test.path("alert_rule_test")))
                    .filter(test -> test.path("alertname").asText().equals(name))
                    .toList();
            assertThat(expectations)
                    .as("it fires")
                    .anyMatch(test -> !test.path("exp_alerts").isEmpty());
            assertThat(expectations)
                    .as("it does not fire")
                    .anyMatch(test -> test.path("exp_alerts").isEmpty());
        });
    }

    @Test
    void everyNameIsThatOfAMeterOrOfARecordingRule() {
        Set<String> recorded = RULES.stream()
                .filter(rule -> rule.has("record"))
                .map(rule -> rule.path("record").asText())
                .collect(Collectors.toSet());
        assertThat(recorded).isNotEmpty().allSatisfy(name -> assertThat(name).startsWith("sluice:"));
        assertThat(List.of(ShippedFile.RULES.text(), ShippedFile.RUNBOOKS.text()))
                .allSatisfy(text -> {
                    assertThat(MetricNames.in(text)).isSubsetOf(MetricNames.all());
                    assertThat(MetricNames.recordedIn(text)).isSubsetOf(recorded);
                });
    }

    @Test
    void theRunbooksNamePanelsAsTheDashboardDoes() {
        List<String> titles =
                Dashboard.read().panels().stream().map(Dashboard.Panel::title).toList();
        assertThat(EMPHASIS.matcher(ShippedFile.RUNBOOKS.text()).results().map(panel -> panel.group(1)))
                .isNotEmpty()
                .isSubsetOf(titles);
    }

    @Test
    void theRunbooksExplainEveryKindOfError() {
        Set<String> explained = Pattern.compile("`(\\w+)`")
                .matcher(ShippedFile.RUNBOOKS
                        .text()
                        .lines()
                        .filter(line -> line.startsWith("| `"))
                        .map(line -> line.substring(0, line.indexOf('|', 1)))
                        .collect(Collectors.joining()))
                .results()
                .map((MatchResult kind) -> kind.group(1))
                .collect(Collectors.toSet());
        assertThat(explained)
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(ErrorKind.values())
                        .map(kind -> kind.name().toLowerCase(Locale.ROOT))
                        .toList());
    }

    private static List<JsonNode> alerts() {
        return RULES.stream().filter(rule -> rule.has("alert")).toList();
    }
}
