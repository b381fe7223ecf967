package io.sluice.samples.compare;

import java.util.List;
import java.util.Locale;

/** Results as a table for people, a line for each comparison, and one more for each that has a problem. */
final class ComparisonTable {

    private static final int SHORTEST_NAME = 20;

    private ComparisonTable() {}

    /** The table, several lines each ending in a line separator. */
    static String of(List<ComparisonResult> results) {
        int width = results.stream().mapToInt(result -> result.name().length()).reduce(SHORTEST_NAME, Math::max);
        StringBuilder table = new StringBuilder(head(width));
        results.forEach(result -> table.append(line(width, result)));
        return table.toString();
    }

    private static String head(int width) {
        return String.format(
                Locale.ROOT,
                "%s %-8s %9s %12s %12s  %-11s %7s  %-8s %s%n",
                padded("comparison", width),
                "api",
                "in flight",
                "sluice",
                "peer",
                "unit",
                "ratio",
                "goal",
                "met");
    }

    private static String line(int width, ComparisonResult result) {
        List<String> cells = result.cells();
        String line = String.format(
                Locale.ROOT,
                "%s %-8s %9d %12s %12s  %-11s %7s  %-8s %s",
                padded(cells.get(0), width),
                cells.get(1),
                result.inflight(),
                cells.get(2),
                cells.get(3),
                cells.get(4),
                cells.get(5),
                cells.get(6),
                cells.get(7));
        String problem = result.problem();
        return line.stripTrailing()
                + System.lineSeparator()
                + (problem == null ? "" : "    " + problem + System.lineSeparator());
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(width - text.length());
    }
}
