package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Measures comparisons by turns. */
public final class Compare {

    private final List<Api> apis;
    private final List<Comparison> comparisons;

    /**
     * Of some comparisons.
     *
     * @param apis through what transfers are started; each comparison is made for all of them
     * @param names of comparisons, of either half of their names, or {@code goals} for those that have one; none for all
     * @throws IllegalArgumentException if a name is of none; the message says which there are
     */
    public Compare(List<Api> apis, List<String> names) {
        this.apis = List.copyOf(new LinkedHashSet<>(apis));
        this.comparisons = Comparisons.chosen(names);
    }

    /**
     * Brings about what is needed, and measures.
     *
     * @param progress tells how far it is
     * @throws IOException if files cannot be written
     */
    public CompareReport run(Workbench workbench, RoundsProgress progress) throws IOException {
        Set<Program> needed = EnumSet.noneOf(Program.class);
        comparisons.forEach(comparison -> needed.add(comparison.theirs().program()));
        Map<Program, String> absent;
        try {
            absent = Preparation.prepare(needed, workbench, progress.err());
        } catch (BrokenOffException e) {
            return new CompareReport(List.of(), true);
        }
        Set<Measurement> measurements = measurements(absent);
        InterleavedRounds rounds = new InterleavedRounds(measurements, workbench, progress);
        if (!measurements.isEmpty()) {
            Timing timing = workbench.timing();
            progress.begin(measurements.size(), timing.rounds(), timing.expected(measurements.size()));
            rounds.run();
        }
        return report(absent, rounds);
    }

    /** Each comparison's two one after the other; what several comparisons share is measured once. */
    private Set<Measurement> measurements(Map<Program, String> absent) {
        Set<Measurement> measurements = new LinkedHashSet<>();
        for (Comparison comparison : comparisons) {
            Measurement theirs = comparison.theirs();
            if (!absent.containsKey(theirs.program())) {
                apis.forEach(api -> measurements.add(comparison.ours(api)));
                measurements.add(theirs);
            }
        }
        return measurements;
    }

    private CompareReport report(Map<Program, String> absent, InterleavedRounds rounds) {
        List<ComparisonResult> results = new ArrayList<>();
        for (Api api : apis) {
            for (Comparison comparison : comparisons) {
                Measurement theirs = comparison.theirs();
                String leftOut = absent.get(theirs.program());
                // Another comparison may have measured the same transfers.
                Series ours = leftOut == null ? rounds.of(comparison.ours(api)) : new Series();
                results.add(ComparisonResult.of(comparison, api, ours, rounds.of(theirs), leftOut));
            }
        }
        return new CompareReport(results, rounds.isBrokenOff());
    }
}
