package io.sluice.samples.compare;

import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is in the way of comparisons here, which are then left out. */
final class UnmetRequirements {

    private final Map<Subject, String> subjects = new HashMap<>();
    private final Map<Program, String> programs = new EnumMap<>(Program.class);

    /** Looks what of ours can be measured here. */
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

    /** Takes note of programs that are not there. */
    void add(Map<Program, String> reasons) {
        programs.putAll(reasons);
    }

    /** Why a comparison cannot be made, or {@code null}. */
    @Nullable
    String of(Comparison comparison) {
        String reason = subjects.get(comparison.subject());
        return reason == null ? programs.get(comparison.theirs().program()) : reason;
    }
}
