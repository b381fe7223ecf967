package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Measures comparisons in interleaved rounds. */
public final class Compare {
    private final List<Api> apis;
    private final List<Comparison> comparisons;

    /**
     * Of some comparisons.
     *
     * @param apis through what transfers are started; each comparison is made for all of them, but for those that are
     *     about one interface alone
     * @param names of comparisons, of either half of their names, or {@code goals} for those that have one; none for all
     * @param transports that our transfers go over; none for all
     * @throws IllegalArgumentException if a name or transport is of none, or none is left; the message says which there
     *     are
     */
    public Compare(List<Api> apis, List<String> names, List<String> transports) {
        this.apis = List.copyOf(new LinkedHashSet<>(apis));
        this.comparisons = Comparisons.chosen(names, transports);
    }

    /** Brings about what is needed, and measures. */
    public CompareDocument run(
            CompareDocument.RunDescription description, BenchEnvironment workbench, RoundsProgress progress)
            throws IOException {
        Map<Comparison, String> leftOut = new HashMap<>();
        Set<Program> needed = EnumSet.noneOf(Program.class);
        for (Comparison comparison : comparisons) {
            String reason = comparison.workload().unavailable();
            if (reason == null) {
                needed.add(comparison.theirs().program());
            } else {
                leftOut.put(comparison, reason);
            }
        }
        try {
            Map<Program, String> missing = Preparation.prepare(needed, workbench);
            for (Comparison comparison : comparisons) {
                String reason = missing.get(comparison.theirs().program());
                if (reason != null) {
                    leftOut.putIfAbsent(comparison, reason);
                }
            }
        } catch (BrokenOffException e) {
            // Nothing is measured yet, and is reported as that.
            return CompareDocument.of(
                    description,
                    Map.of(),
                    true,
                    results(leftOut, new InterleavedRounds(Set.of(), workbench, progress), workbench));
        }
        Map<String, String> programs = Preparation.versions(needed, workbench);
        Set<Measurement> measurements = measurements(leftOut);
        InterleavedRounds rounds = new InterleavedRounds(measurements, workbench, progress);
        if (!measurements.isEmpty()) {
            Timing timing = workbench.timing();
            progress.begin(measurements.size(), timing.rounds(), timing.expected(measurements.size()));
            rounds.run();
        }
        return CompareDocument.of(description, programs, rounds.isBrokenOff(), results(leftOut, rounds, workbench));
    }

    /** Each comparison's two one after the other; what several comparisons share is measured once. */
    private Set<Measurement> measurements(Map<Comparison, String> leftOut) {
        Set<Measurement> measurements = new LinkedHashSet<>();
        for (Comparison comparison : comparisons) {
            if (!leftOut.containsKey(comparison)) {
                comparison.apis(apis).forEach(api -> measurements.add(comparison.ours(api)));
                if (isMeasuredByItself(comparison.theirs())) {
                    measurements.add(comparison.theirs());
                }
            }
        }
        return measurements;
    }

    private static boolean isMeasuredByItself(Measurement measurement) {
        return !(measurement instanceof FixedTarget
                || measurement instanceof SameMemoryCopy
                || measurement instanceof BestPeer);
    }

    /** One interface after the other; what is about one alone comes last. */
    private List<ComparisonResult> results(
            Map<Comparison, String> leftOut, InterleavedRounds rounds, BenchEnvironment workbench) {
        List<ComparisonResult> results = new ArrayList<>();
        for (Api api : apis) {
            for (Comparison comparison : comparisons) {
                if (comparison.api() == null) {
                    results.add(result(comparison, api, leftOut, rounds, workbench));
                }
            }
        }
        for (Comparison comparison : comparisons) {
            if (comparison.api() != null) {
                results.add(result(comparison, comparison.api(), leftOut, rounds, workbench));
            }
        }
        return results;
    }

    private static ComparisonResult result(
            Comparison comparison,
            Api api,
            Map<Comparison, String> leftOut,
            InterleavedRounds rounds,
            BenchEnvironment workbench) {
        String reason = leftOut.get(comparison);
        // Another comparison may have measured the same transfers.
        Series ours = reason == null ? rounds.of(comparison.ours(api)) : new Series();
        Measurement other = comparison.theirs() instanceof BestPeer best ? best.in(rounds) : comparison.theirs();
        if (other == null) {
            other = comparison.theirs();
            reason = reason == null ? "no peer was measured" : reason;
        }
        Series theirs = switch (other) {
            case FixedTarget target -> target.series();
            case SameMemoryCopy _ -> SameMemoryCopy.in(ours);
            case Measurement measured -> rounds.of(measured);
        };
        ComparisonResult result =
                ComparisonResult.of(comparison, api, ours, theirs, workbench.commands(), reason, other);
        return switch (comparison.workload()) {
            case Collectives collectives -> result.with(RankSharing.of(collectives.ranks(), workbench.pinning()));
            case Experts experts -> result.with(RankSharing.of(experts.ranks(), workbench.pinning()));
            case GpuCollectives _, GpuExperts _, ProgramStart _, Transfers _ -> result;
        };
    }
}
