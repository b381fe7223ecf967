package io.sluice.samples.compare;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Results as a table for people, a line for each comparison, and one more for each that has a problem. */
final class ComparisonTable {

    private static final String NONE = "-";

    private ComparisonTable() {}

    /** What the columns are. */
    static String head() {
        return String.format(
                Locale.ROOT,
                "%-20s %-8s %9s %12s %12s  %-11s %7s  %-8s %s%n",
                "comparison",
                "api",
                "in flight",
                "sluice",
                "peer",
                "unit",
                "ratio",
                "goal",
                "met");
    }

    /** The line of a comparison. */
    static String line(ComparisonResult result) {
        Double ratio = result.ratio();
        Goal goal = result.goal();
        String line = String.format(
                Locale.ROOT,
                "%-20s %-8s %9d %12s %12s  %-11s %7s  %-8s %s",
                result.name(),
                result.api(),
                result.inflight(),
                figure(result, result.sluice().median()),
                figure(result, result.peer().median()),
                result.unit(),
                ratio == null ? NONE : String.format(Locale.ROOT, "%.2f", ratio),
                goal == null ? "" : goal.toString(),
                met(result));
        String problem = result.problem();
        return line.stripTrailing()
                + System.lineSeparator()
                + (problem == null ? "" : "    " + problem + System.lineSeparator());
    }

    private static String figure(ComparisonResult result, @Nullable Double value) {
        return value == null
                ? NONE
                : String.format(Locale.ROOT, result.quantity().format(), value);
    }

    private static String met(ComparisonResult result) {
        if (result.goal() == null) {
            return "";
        }
        Boolean met = result.met();
        if (met == null) {
            return NONE;
        }
        return met ? "yes" : "NO";
    }
}
