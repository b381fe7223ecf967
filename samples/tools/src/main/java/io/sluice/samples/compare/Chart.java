package io.sluice.samples.compare;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Bars, in groups.
 *
 * @param name short, fit for a file
 * @param title for people
 * @param unit of all values
 * @param groups along the axis
 * @param series a bar in each group
 */
record Chart(
        @JsonProperty("name") String name,
        @JsonProperty("title") String title,
        @JsonProperty("unit") String unit,
        @JsonProperty("groups") List<String> groups,
        @JsonProperty("series") List<Bars> series) {

    /** A unit of none. */
    private static final String SHARE = "share of the goal, at most 3; 1 or more is met";

    // some are met a thousandfold, and would dwarf the others
    private static final double MOST_SHARE = 3;

    /**
     * The bars of one thing.
     *
     * @param name of it
     * @param values one for each group, {@code null} where there is none
     */
    record Bars(
            @JsonProperty("name") String name,
            @JsonProperty("values") List<@Nullable Double> values) {}

    /** Those of a run: how far the goals are reached, and the figures of each topic. What has no figure is in none. */
    static List<Chart> of(CompareDocument run) {
        List<Chart> charts = new ArrayList<>();
        goals(run, charts);
        Map<String, List<ComparisonResult>> alike = new LinkedHashMap<>();
        for (ComparisonResult result : run.comparisons()) {
            if (result.ratio() != null) {
                // one in flight is another thing than many of the same
                String kind = result.topic() + "\n" + result.unit() + "\n" + (result.inflight() == 1);
                alike.computeIfAbsent(kind, any -> new ArrayList<>()).add(result);
            }
        }
        alike.values().forEach(results -> charts.add(figures(results, charts.size())));
        return charts;
    }

    private static void goals(CompareDocument run, List<Chart> charts) {
        List<String> groups = new ArrayList<>();
        List<@Nullable Double> shares = new ArrayList<>();
        for (ComparisonResult result : run.comparisons()) {
            Double share = result.shareOfGoal();
            if (share != null) {
                groups.add(result.name() + " " + result.api());
                shares.add(Math.min(share, MOST_SHARE));
            }
        }
        if (!groups.isEmpty()) {
            charts.add(new Chart("goals", "Goals", SHARE, groups, List.of(new Bars("sluice", shares))));
        }
    }

    private static Chart figures(List<ComparisonResult> results, int number) {
        Set<String> groups = new LinkedHashSet<>();
        Set<String> series = new LinkedHashSet<>();
        Map<String, Double> values = new LinkedHashMap<>();
        for (ComparisonResult result : results) {
            groups.add(result.subject());
            put(
                    values,
                    series,
                    "sluice, " + result.api(),
                    result.subject(),
                    result.sluice().median());
            put(
                    values,
                    series,
                    result.peerName(),
                    result.subject(),
                    result.peer().median());
        }
        String topic = results.getFirst().topic();
        String unit = results.getFirst().unit();
        List<Bars> bars = series.stream()
                .map(name -> new Bars(name, valuesOf(name, groups, values)))
                .toList();
        String alone = results.getFirst().inflight() == 1 ? ", one in flight" : "";
        String title = Topic.describe(topic) + alone + ", " + unit;
        return new Chart(topic + "-" + number, title, unit, List.copyOf(groups), bars);
    }

    private static void put(
            Map<String, Double> values, Set<String> series, String name, String group, @Nullable Double value) {
        if (value != null) {
            series.add(name);
            values.put(name + "\n" + group, value);
        }
    }

    private static List<@Nullable Double> valuesOf(String name, Set<String> groups, Map<String, Double> values) {
        List<@Nullable Double> ofGroups = new ArrayList<>();
        groups.forEach(group -> ofGroups.add(values.get(name + "\n" + group)));
        return ofGroups;
    }
}
