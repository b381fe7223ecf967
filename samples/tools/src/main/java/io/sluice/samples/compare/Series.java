package io.sluice.samples.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The figures of one measurement, round after round. */
final class Series {
    /** After so many failures it is not tried again: what hangs costs a round a minute. */
    private static final int MOST_FAILURES = 2;

    private final List<@Nullable Figures> rounds = new ArrayList<>();
    private @Nullable String problem;
    private int failures;

    /** Takes the figures of the next round; {@code null} of what is measured with something else, where the failure is told. */
    void add(@Nullable Figures figures) {
        rounds.add(figures);
    }

    void addFailure(String why) {
        rounds.add(null);
        failures++;
        if (problem == null) {
            problem = why;
        }
    }

    boolean isGivenUp() {
        return failures >= MOST_FAILURES;
    }

    /** Why it failed first, or {@code null}. */
    @Nullable
    String problem() {
        return problem;
    }

    /** One quantity of each round, {@code null} for those without. */
    List<@Nullable Double> values(Quantity quantity) {
        List<@Nullable Double> values = new ArrayList<>();
        for (Figures figures : rounds) {
            values.add(figures == null ? null : figures.values().get(quantity));
        }
        return values;
    }

    /** The median of those that are there, of an even number the mean of the middle two; {@code null} of none. */
    static @Nullable Double median(List<@Nullable Double> values) {
        double[] sorted = values.stream()
                .filter(Objects::nonNull)
                .mapToDouble(value -> value)
                .sorted()
                .toArray();
        int middle = sorted.length / 2;
        if (sorted.length == 0) {
            return null;
        }
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
