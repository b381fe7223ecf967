package io.sluice.samples.bench;

import io.sluice.collectives.AlgorithmTable;
import io.sluice.collectives.CollectiveKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Makes a table of algorithms of what was measured: for each kind, number of ranks and size the quickest one. */
public final class AlgorithmTuning {
    private final Map<CollectiveKind, SortedMap<Integer, SortedMap<Long, SortedMap<String, Double>>>> micros =
            new LinkedHashMap<>();

    /** Takes note of a measurement; one that failed says nothing. */
    public void add(CollectiveResult result) {
        if (result.isGood() && result.operations() > 0) {
            BenchCollective collective =
                    BenchCollective.valueOf(result.collective().toUpperCase(Locale.ROOT));
            micros.computeIfAbsent(collective.kind(), any -> new TreeMap<>())
                    .computeIfAbsent(result.ranks(), any -> new TreeMap<>())
                    .computeIfAbsent(result.size(), any -> new TreeMap<>())
                    .put(result.algorithm(), result.meanMicros());
        }
    }

    /** Returns the text that {@link AlgorithmTable#parse} reads, with what was measured as comments. */
    public String table() {
        StringBuilder text = new StringBuilder();
        micros.forEach((kind, byRanks) -> byRanks.forEach((ranks, bySize) -> {
            bySize.forEach((size, byAlgorithm) -> text.append(figures(kind, ranks, size, byAlgorithm)));
            if (bySize.values().stream().anyMatch(byAlgorithm -> byAlgorithm.size() > 1)) {
                String most = ranks.equals(byRanks.lastKey()) ? "*" : ranks.toString();
                rules(kind, most, bySize).forEach(rule -> text.append(rule).append('\n'));
            }
        }));
        AlgorithmTable.parse(text.toString());
        return text.toString();
    }

    private static String figures(CollectiveKind kind, int ranks, long size, SortedMap<String, Double> byAlgorithm) {
        StringBuilder line = new StringBuilder("# " + kind + ", " + ranks + " ranks, " + size + " bytes:");
        byAlgorithm.forEach(
                (algorithm, time) -> line.append(String.format(Locale.ROOT, " %s %.2f us", algorithm, time)));
        return line.append('\n').toString();
    }

    /** Between two sizes with different algorithms the bound is where both are as far, as factors go. */
    private static List<String> rules(
            CollectiveKind kind, String ranks, SortedMap<Long, SortedMap<String, Double>> bySize) {
        List<String> rules = new ArrayList<>();
        String before = null;
        long sizeBefore = 0;
        for (Map.Entry<Long, SortedMap<String, Double>> entry : bySize.entrySet()) {
            String best = quickest(entry.getValue());
            if (before != null && !before.equals(best)) {
                long bound = Math.round(Math.sqrt((double) sizeBefore * entry.getKey()));
                rules.add(kind + " " + ranks + " " + bound + " " + before);
            }
            before = best;
            sizeBefore = entry.getKey();
        }
        rules.add(kind + " " + ranks + " * " + before);
        return rules;
    }

    private static String quickest(SortedMap<String, Double> byAlgorithm) {
        return byAlgorithm.entrySet().stream()
                .min(Map.Entry.comparingByValue())
                .orElseThrow()
                .getKey();
    }
}
