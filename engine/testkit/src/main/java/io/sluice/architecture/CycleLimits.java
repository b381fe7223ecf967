package io.sluice.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Conditions for ArchUnit's rules: packages form no cycle, and classes of one package form none that is large. Existing
 * cycles are named exactly, so that their number can only go down: an exception that is not needed any more fails as
 * well. A cast, and a sealed class's list of those it permits, are no dependencies here, as they are none to ArchUnit.
 */
public final class CycleLimits {
    /** How many classes of one package may need each other in a circle. */
    public static final int LIMIT = 5;

    private CycleLimits() {}

    /**
     * No package depends on one that depends on it, be it over others.
     *
     * @param known edges that are left out, as {@code from -> to}; each must be there and be part of a cycle
     * @return a condition on all classes together
     */
    public static ArchCondition<JavaClass> formNoCycleOfPackages(String... known) {
        return new GraphCondition("form no cycle of packages") {
            @Override
            void checkAll(Collection<JavaClass> classes, ConditionEvents events) {
                packageCycles(classes, List.of(known), events);
            }
        };
    }

    /**
     * In each package the largest cycle has at most {@link #LIMIT} top-level classes; a nested class counts as its outermost.
     *
     * @param exceptions the exact size, by package, of cycles that are larger
     * @return a condition on all classes together
     */
    public static ArchCondition<JavaClass> formNoLargeCycleInAPackage(Map<String, Integer> exceptions) {
        return new GraphCondition("form no cycle of more than " + LIMIT + " classes in a package") {
            @Override
            void checkAll(Collection<JavaClass> classes, ConditionEvents events) {
                classCycles(classes, exceptions, events);
            }
        };
    }

    private static void packageCycles(Collection<JavaClass> classes, List<String> known, ConditionEvents events) {
        DependencyGraph whole = new DependencyGraph();
        DependencyGraph rest = new DependencyGraph();
        for (JavaClass from : classes) {
            for (Dependency dependency : from.getDirectDependenciesFromSelf()) {
                JavaClass to = dependency.getTargetClass().getBaseComponentType();
                if (classes.contains(to)) {
                    whole.add(from.getPackageName(), to.getPackageName());
                    rest.add(from.getPackageName(), to.getPackageName());
                }
            }
        }
        List<List<String>> cyclesOfAll = whole.cycles();
        for (String edge : known) {
            String[] ends = edge.split(" -> ", -1);
            boolean there = rest.remove(ends[0], ends[1]);
            if (!there || cyclesOfAll.stream().noneMatch(cycle -> cycle.containsAll(List.of(ends)))) {
                violated(events, edge + " is no edge of a cycle any more: take it off the list");
            }
        }
        for (List<String> cycle : rest.cycles()) {
            violated(events, "packages form a cycle: " + String.join(", ", rest.edgesWithin(cycle)));
        }
    }

    private static void classCycles(
            Collection<JavaClass> classes, Map<String, Integer> exceptions, ConditionEvents events) {
        Map<String, DependencyGraph> graphs = new TreeMap<>();
        for (JavaClass from : classes) {
            DependencyGraph graph = graphs.computeIfAbsent(from.getPackageName(), name -> new DependencyGraph());
            for (Dependency dependency : from.getDirectDependenciesFromSelf()) {
                JavaClass to = dependency.getTargetClass().getBaseComponentType();
                if (classes.contains(to) && to.getPackageName().equals(from.getPackageName())) {
                    graph.add(outermost(from), outermost(to));
                }
            }
        }
        graphs.forEach((name, graph) -> {
            List<List<String>> cycles = graph.cycles();
            int largest = cycles.isEmpty() ? 1 : cycles.getFirst().size();
            Integer exception = exceptions.get(name);
            if (exception == null && largest > LIMIT) {
                violated(
                        events,
                        name + " has a cycle of " + largest + " classes, which is more than " + LIMIT + ": "
                                + cycles.getFirst());
            } else if (exception != null && largest != exception) {
                violated(
                        events,
                        name + " has a largest cycle of " + largest + " classes, and the list says " + exception
                                + (cycles.isEmpty() ? "" : ": " + cycles.getFirst()));
            } else if (exception != null && exception <= LIMIT) {
                violated(events, name + " needs no exception any more: take it off the list");
            }
        });
        for (String name : exceptions.keySet()) {
            if (!graphs.containsKey(name)) {
                violated(events, name + " is on the list, and there is no such package");
            }
        }
    }

    /** The simple name of the class that a class is nested in, or its own. */
    private static String outermost(JavaClass type) {
        String name = type.getName().substring(type.getPackageName().length() + 1);
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    private static void violated(ConditionEvents events, String message) {
        events.add(SimpleConditionEvent.violated(message, message));
    }

    /** Looks at all classes of a rule at once. */
    private abstract static class GraphCondition extends ArchCondition<JavaClass> {
        private Collection<JavaClass> classes = List.of();

        GraphCondition(String description) {
            super(description);
        }

        abstract void checkAll(Collection<JavaClass> all, ConditionEvents events);

        @Override
        public void init(Collection<JavaClass> allObjectsToTest) {
            classes = Set.copyOf(allObjectsToTest);
        }

        @Override
        public void check(JavaClass item, ConditionEvents events) {
            // all of them come in finish
        }

        @Override
        public void finish(ConditionEvents events) {
            checkAll(classes, events);
        }
    }
}
