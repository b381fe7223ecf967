package io.sluice.samples.compare;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Bars, in groups along an axis: each series has one in each group. The name is fit for a file. */
record Chart(String name, String title, String unit, List<String> groups, List<Bars> series) {
    /** A unit of none. */
    private static final String SHARE = "share of the goal, at most 3; 1 or more is met";

    // some are met a thousandfold, and would dwarf the others
    private static final double MOST_SHARE = 3;

    /** The bars of one thing, {@code null} in groups where it has none. */
    record Bars(String name, List<@Nullable Double> values) {}

    /** Those of a run: how far the goals are reached, and the figures of each topic. Results without a figure are in none. */
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
        Map<String, Map<String, Double>> series = new LinkedHashMap<>();
        for (ComparisonResult result : results) {
            put(series, "sluice, " + result.api(), result, result.sluice());
            put(series, result.peerName(), result, result.peer());
        }
        List<String> groups =
                results.stream().map(ComparisonResult::workload).distinct().toList();
        List<Bars> bars = new ArrayList<>();
        series.forEach((name, values) -> {
            List<@Nullable Double> ofGroups = new ArrayList<>();
            groups.forEach(group -> ofGroups.add(values.get(group)));
            bars.add(new Bars(name, ofGroups));
        });
        ComparisonResult first = results.getFirst();
        String alone = first.inflight() == 1 ? ", one in flight" : "";
        String title = Topic.describe(first.topic()) + alone + ", " + first.unit();
        return new Chart(first.topic() + "-" + number, title, first.unit(), groups, bars);
    }

    private static void put(
            Map<String, Map<String, Double>> series, String name, ComparisonResult of, ComparisonResult.Side side) {
        Double median = side.median();
        if (median != null) {
            series.computeIfAbsent(name, any -> new HashMap<>()).put(of.workload(), median);
        }
    }
}
