package io.sluice.samples.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** All comparisons. */
final class Comparisons {
    private static final String GOALS = "goals";

    private static final List<Comparison> ALL = Arrays.stream(Topic.values())
            .flatMap(topic -> topic.comparisons().stream())
            .toList();

    private Comparisons() {}

    static List<Comparison> all() {
        return ALL;
    }

    /**
     * Some of them, in their order.
     *
     * @param names of comparisons, or of the first or second half of their names, or topics, or {@code goals} for those
     *     that have one; none for all. Those of collectives, and of GPUs that are not here, are left aside, unless they are named
     * @param transports that our transfers go over; none for all
     * @throws IllegalArgumentException if a name or a transport is of none, or both together leave none; the message says
     *     which there are
     */
    static List<Comparison> chosen(List<String> names, List<String> transports) {
        for (String name : names) {
            require(
                    comparison -> matches(comparison, name),
                    "no comparison is called '" + name + "'; there are " + topics() + "; "
                            + ALL.stream().map(Comparison::name).distinct().collect(Collectors.joining(", ")));
        }
        for (String transport : transports) {
            require(
                    comparison -> transport(comparison).equals(transport),
                    "no comparison is made over '" + transport + "'; they are over "
                            + ALL.stream()
                                    .map(Comparisons::transport)
                                    .distinct()
                                    .collect(Collectors.joining(", ")));
        }
        List<Comparison> chosen = new ArrayList<>();
        for (Comparison comparison : ALL) {
            if (((names.isEmpty() && isUsual(comparison)) || names.stream().anyMatch(name -> matches(comparison, name)))
                    && (transports.isEmpty() || transports.contains(transport(comparison)))) {
                chosen.add(comparison);
            }
        }
        if (chosen.isEmpty()) {
            throw new IllegalArgumentException(
                    "none of these comparisons is made over " + String.join(", ", transports));
        }
        return chosen;
    }

    private static String topics() {
        return GOALS + ", " + Arrays.stream(Topic.values()).map(Topic::toString).collect(Collectors.joining(", "));
    }

    private static void require(Predicate<Comparison> some, String otherwise) {
        if (ALL.stream().noneMatch(some)) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private static String transport(Comparison comparison) {
        return comparison.workload().transport();
    }

    /** Few machines have GPUs, and other libraries of collectives and for experts. */
    private static boolean isUsual(Comparison comparison) {
        return switch (comparison.workload()) {
            case Collectives _, Experts _, GpuCollectives _, GpuExperts _ -> false;
            case ProgramStart start -> isHere(start.route());
            case Transfers transfers -> isHere(transfers.route());
        };
    }

    private static boolean isHere(Route route) {
        return route.gpus() == 0 || route.unavailable() == null;
    }

    private static boolean matches(Comparison comparison, String name) {
        return comparison.name().equals(name)
                || comparison.workload().name().equals(name)
                || comparison.peer().equals(name)
                || (name.equals(GOALS) && comparison.goal() != null && isUsual(comparison))
                || Topic.of(comparison).toString().equals(name);
    }
}
