package io.sluice.samples.compare;

import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is in the way of comparisons here, which are then left out. */
final class Obstacles {

    private final Map<Route, String> routes = new EnumMap<>(Route.class);
    private final Map<Program, String> programs = new EnumMap<>(Program.class);

    /** Looks which routes of some comparisons can be taken. */
    static Obstacles onRoutesOf(Collection<Comparison> comparisons) {
        Obstacles obstacles = new Obstacles();
        Set<Route> taken = EnumSet.noneOf(Route.class);
        comparisons.forEach(comparison -> taken.add(comparison.subject().route()));
        for (Route route : taken) {
            String reason = route.unavailable();
            if (reason != null) {
                obstacles.routes.put(route, reason);
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
        String reason = routes.get(comparison.subject().route());
        return reason == null ? programs.get(comparison.theirs().program()) : reason;
    }
}
