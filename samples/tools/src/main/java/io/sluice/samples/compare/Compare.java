package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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
        UnmetRequirements obstacles = UnmetRequirements.of(comparisons);
        Set<Program> needed = EnumSet.noneOf(Program.class);
        comparisons.stream()
                .filter(comparison -> obstacles.of(comparison) == null)
                .forEach(comparison -> needed.add(comparison.theirs().program()));
        try {
            obstacles.add(Preparation.prepare(needed, workbench));
        } catch (BrokenOffException e) {
            // Nothing is measured yet, and is reported as that.
            return CompareDocument.of(
                    description,
                    Map.of(),
                    true,
                    results(obstacles, new InterleavedRounds(Set.of(), workbench, progress), workbench.commands()));
        }
        Map<String, String> programs = Preparation.versions(needed, workbench);
        Set<Measurement> measurements = measurements(obstacles);
        InterleavedRounds rounds = new InterleavedRounds(measurements, workbench, progress);
        if (!measurements.isEmpty()) {
            Timing timing = workbench.timing();
            progress.begin(measurements.size(), timing.rounds(), timing.expected(measurements.size()));
            rounds.run();
        }
        return CompareDocument.of(
                description, programs, rounds.isBrokenOff(), results(obstacles, rounds, workbench.commands()));
    }

    /** Each comparison's two one after the other; what several comparisons share is measured once. */
    private Set<Measurement> measurements(UnmetRequirements obstacles) {
        Set<Measurement> measurements = new LinkedHashSet<>();
        for (Comparison comparison : comparisons) {
            if (obstacles.of(comparison) == null) {
                comparison.apis(apis).forEach(api -> measurements.add(comparison.ours(api)));
                if (isMeasuredByItself(comparison.theirs())) {
                    measurements.add(comparison.theirs());
                }
            }
        }
        return measurements;
    }

    private static boolean isMeasuredByItself(Measurement measurement) {
        return !(measurement instanceof FixedTarget || measurement instanceof SameMemoryCopy);
    }

    /** One interface after the other; what is about one alone comes last. */
    private List<ComparisonResult> results(
            UnmetRequirements obstacles, InterleavedRounds rounds, BenchEnvironment.CommandLog commands) {
        List<ComparisonResult> results = new ArrayList<>();
        for (Api api : apis) {
            for (Comparison comparison : comparisons) {
                if (comparison.api() == null) {
                    results.add(result(comparison, api, obstacles, rounds, commands));
                }
            }
        }
        for (Comparison comparison : comparisons) {
            if (comparison.api() != null) {
                results.add(result(comparison, comparison.api(), obstacles, rounds, commands));
            }
        }
        return results;
    }

    private static ComparisonResult result(
            Comparison comparison,
            Api api,
            UnmetRequirements obstacles,
            InterleavedRounds rounds,
            BenchEnvironment.CommandLog commands) {
        String leftOut = obstacles.of(comparison);
        // Another comparison may have measured the same transfers.
        Series ours = leftOut == null ? rounds.of(comparison.ours(api)) : new Series();
        Series theirs = switch (comparison.theirs()) {
            case FixedTarget mark -> mark.series();
            case SameMemoryCopy _ -> SameMemoryCopy.in(ours);
            case Measurement other -> rounds.of(other);
        };
        return ComparisonResult.of(comparison, api, ours, theirs, commands, leftOut);
    }

    /** What is in the way of comparisons here, which are then left out. */
    static final class UnmetRequirements {
        private final Map<Subject, String> subjects = new HashMap<>();
        private final Map<Program, String> programs = new EnumMap<>(Program.class);

        static UnmetRequirements of(Collection<Comparison> comparisons) {
            UnmetRequirements obstacles = new UnmetRequirements();
            for (Comparison comparison : comparisons) {
                Subject subject = comparison.subject();
                String reason = subject.unavailable();
                if (reason != null) {
                    obstacles.subjects.put(subject, reason);
                }
            }
            return obstacles;
        }

        void add(Map<Program, String> reasons) {
            programs.putAll(reasons);
        }

        @Nullable
        String of(Comparison comparison) {
            String reason = subjects.get(comparison.subject());
            return reason == null ? programs.get(comparison.theirs().program()) : reason;
        }
    }
}
