package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.metrics.Dashboard.Query;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that each panel of the dashboard has the parts without which it fails on another Grafana. */
class DashboardRulesTest {
    private static final String DATA_SOURCE = "${datasource}";
    private static final int WIDTH = 24;
    private static final Pattern RANGE = Pattern.compile("\\[([^\\]]*)\\]");
    private static final Pattern LEGEND_LABEL = Pattern.compile("\\{\\{(\\w+)\\}\\}");
    private static final Pattern GROUPING = Pattern.compile("\\bby \\(([^)]*)\\)");

    private static final Dashboard DASHBOARD = Dashboard.read();

    @Test
    void itHasARowForEachQuestion() {
        assertThat(DASHBOARD.rows())
                .containsExactly(
                        "Overview",
                        "Throughput",
                        "Latency",
                        "Backpressure",
                        "Peers",
                        "Memory",
                        "Pollers",
                        "Verbs",
                        "GPUs",
                        "Collectives",
                        "Experts",
                        "Collectives and experts on GPUs");
    }

    @Test
    void itIsTheSameDashboardWhereverItIsImported() {
        assertThat(DASHBOARD.json().path("uid").asText()).isEqualTo("sluice");
        assertThat(DASHBOARD.json().has("id")).as("an id of one Grafana").isFalse();
        assertThat(DASHBOARD.json().path("schemaVersion").asInt()).isGreaterThanOrEqualTo(39);
    }

    @Test
    void everythingAsksTheDataSourceThatIsChosen() {
        assertThat(variables()).containsKeys("datasource", "job", "instance", "transport", "peer");
        assertThat(variables().get("datasource").path("type").asText()).isEqualTo("datasource");
        assertThat(DASHBOARD.panels()).allSatisfy(panel -> {
            assertThat(panel.json().at("/datasource/uid").asText()).isEqualTo(DATA_SOURCE);
            assertThat(panel.queries())
                    .isNotEmpty()
                    .allSatisfy(query -> assertThat(
                                    query.json().at("/datasource/uid").asText())
                            .isEqualTo(DATA_SOURCE));
        });
        assertThat(variables().values())
                .filteredOn(variable -> variable.path("type").asText().equals("query"))
                .hasSize(4)
                .allSatisfy(variable -> {
                    assertThat(variable.at("/datasource/uid").asText()).isEqualTo(DATA_SOURCE);
                    assertThat(variable.path("multi").asBoolean()).isTrue();
                    assertThat(variable.path("includeAll").asBoolean()).isTrue();
                    assertThat(variable.path("allValue").asText()).isEqualTo(".*");
                    assertThat(variable.at("/query/query").asText())
                            .isEqualTo(variable.path("definition").asText());
                });
    }

    @Test
    void idsAndTitlesAreUnique() {
        List<JsonNode> all = Dashboard.children(DASHBOARD.json().path("panels")).toList();
        assertThat(all)
                .extracting(panel -> panel.path("id").asInt())
                .doesNotHaveDuplicates()
                .allSatisfy(id -> assertThat(id).isPositive());
        assertThat(all).extracting(panel -> panel.path("title").asText()).doesNotHaveDuplicates();
        assertThat(DASHBOARD.panels())
                .allSatisfy(panel -> assertThat(panel.queries()
                                .map(query -> query.json().path("refId").asText()))
                        .doesNotHaveDuplicates());
    }

    @Test
    void everyPanelSaysWhatItShowsAndInWhichUnit() {
        assertThat(DASHBOARD.panels()).allSatisfy(panel -> {
            assertThat(panel.title()).isNotBlank();
            assertThat(panel.json().path("description").asText())
                    .hasSizeGreaterThan(20)
                    .endsWith(".");
            assertThat(panel.json().at("/fieldConfig/defaults/unit").asText()).isNotBlank();
        });
    }

    @Test
    void panelsDoNotOverlap() {
        Map<String, String> taken = new HashMap<>();
        for (JsonNode panel : DASHBOARD.json().path("panels")) {
            JsonNode place = panel.path("gridPos");
            String title = panel.path("title").asText();
            assertThat(place.path("w").asInt()).as(title).isPositive();
            assertThat(place.path("h").asInt()).as(title).isPositive();
            assertThat(place.path("x").asInt() + place.path("w").asInt())
                    .as(title)
                    .isLessThanOrEqualTo(WIDTH);
            for (int x = 0; x < place.path("w").asInt(); x++) {
                for (int y = 0; y < place.path("h").asInt(); y++) {
                    String cell = (place.path("x").asInt() + x) + ", "
                            + (place.path("y").asInt() + y);
                    assertThat(taken.put(cell, title))
                            .as("%s is at %s as well", title, cell)
                            .isNull();
                }
            }
        }
    }

    @Test
    void everyRangeSuitsTheScrapeIntervalAndTheZoom() {
        assertThat(DASHBOARD.queries()).allSatisfy(query -> {
            Matcher range = RANGE.matcher(query.expression());
            while (range.find()) {
                assertThat(range.group(1)).isEqualTo("$__rate_interval");
            }
            if (Pattern.compile("\\b(rate|increase)\\(")
                    .matcher(query.expression())
                    .find()) {
                assertThat(query.expression()).contains("[$__rate_interval]");
            }
        });
    }

    @Test
    void everyQueryHeedsTheVariablesThatItsMetersHaveLabelsFor() {
        assertThat(DASHBOARD.queries()).allSatisfy(query -> {
            Set<String> labels = new TreeSet<>(Set.of("job", "instance"));
            for (ExportedMeter meter : metersOf(query)) {
                labels.addAll(meter.tags().stream()
                        .filter(Set.of("transport", "peer")::contains)
                        .toList());
            }
            long selectors = query.expression().chars().filter(c -> c == '{').count();
            for (String label : labels) {
                assertThat(query.expression().split("\\b" + label + "=~\"\\$" + label + "\"", -1).length - 1)
                        .as("selectors of %s by %s", query, label)
                        .isEqualTo((int) selectors);
            }
        });
    }

    @Test
    void everyLegendIsMadeOfLabelsThatAreLeft() {
        assertThat(DASHBOARD.queries()).allSatisfy(query -> {
            assertThat(query.legend()).isNotBlank();
            Set<String> left = labelsLeftBy(query);
            Matcher label = LEGEND_LABEL.matcher(query.legend());
            while (label.find()) {
                assertThat(left).as(query.expression()).contains(label.group(1));
            }
        });
    }

    @Test
    void everyNameIsThatOfAMeter() {
        Set<String> known = MetricNames.all();
        assertThat(Stream.concat(
                        DASHBOARD.queries().map(Query::expression),
                        variables().values().stream()
                                .map(variable -> variable.path("definition").asText())))
                .allSatisfy(text -> {
                    assertThat(MetricNames.in(text)).isSubsetOf(known);
                    assertThat(MetricNames.recordedIn(text))
                            .as("the dashboard works without the recording rules")
                            .isEmpty();
                });
    }

    @Test
    void everyMeterHasItsPlace() {
        Set<String> shown = DASHBOARD
                .queries()
                .map(Query::expression)
                .flatMap(expression -> MetricNames.in(expression).stream())
                .collect(Collectors.toSet());
        assertThat(MetricNames.meters())
                .allSatisfy(meter -> assertThat(shown).containsAnyElementsOf(meter.prometheusNames()));
    }

    @Test
    void heatMapsAreDrawnFromBucketsOrOneSeriesARow() {
        assertThat(DASHBOARD.panels())
                .filteredOn(panel -> panel.json().path("type").asText().equals("heatmap"))
                .hasSize(2)
                .allSatisfy(panel -> {
                    assertThat(panel.json().at("/options/calculate").asBoolean(true))
                            .isFalse();
                    assertThat(panel.queries()).singleElement().satisfies(query -> {
                        if (query.expression().contains("_bucket{")) {
                            assertThat(query.expression()).startsWith("sum by (le)");
                            assertThat(query.json().path("format").asText()).isEqualTo("heatmap");
                        } else {
                            // of series in that format Grafana would take the differences
                            assertThat(query.json().path("format").asText()).isEqualTo("time_series");
                        }
                    });
                });
    }

    private static Map<String, JsonNode> variables() {
        return Dashboard.children(DASHBOARD.json().at("/templating/list"))
                .collect(Collectors.toMap(variable -> variable.path("name").asText(), variable -> variable));
    }

    private static List<ExportedMeter> metersOf(Query query) {
        Set<String> names = MetricNames.in(query.expression());
        return MetricNames.meters()
                .filter(meter -> meter.prometheusNames().stream().anyMatch(names::contains))
                .toList();
    }

    /** Those of its first grouping, as all of its groupings are alike but for {@code le}; else all that its meters have. */
    private static Set<String> labelsLeftBy(Query query) {
        Matcher grouping = GROUPING.matcher(query.expression());
        if (grouping.find()) {
            return Set.of(grouping.group(1).split(", "));
        }
        Set<String> labels = new TreeSet<>(Set.of("job", "instance", EngineMeter.ENGINE_TAG));
        metersOf(query).forEach(meter -> labels.addAll(meter.tags()));
        return labels;
    }
}
