package io.sluice.architecture;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Which names depend on which, and the cycles among them: the strongly connected components, found as Tarjan does. */
final class DependencyGraph {
    private final Map<String, Set<String>> edges = new TreeMap<>();

    /** Adds an edge, and both of its ends. A name's dependency on itself is no edge. */
    void add(String from, String to) {
        Set<String> ofFrom = edges.computeIfAbsent(from, name -> new TreeSet<>());
        edges.computeIfAbsent(to, name -> new TreeSet<>());
        if (!from.equals(to)) {
            ofFrom.add(to);
        }
    }

    /** Removes an edge; says whether it was there. */
    boolean remove(String from, String to) {
        Set<String> ofFrom = edges.get(from);
        return ofFrom != null && ofFrom.remove(to);
    }

    /** The edges between these names, as {@code from -> to}. */
    List<String> edgesWithin(Collection<String> names) {
        List<String> within = new ArrayList<>();
        edges.forEach((from, all) -> all.stream()
                .filter(to -> names.contains(from) && names.contains(to))
                .forEach(to -> within.add(from + " -> " + to)));
        return within;
    }

    /** The components of two names and more, the largest first; the names of each in their order. */
    List<List<String>> cycles() {
        return new Search().cycles();
    }

    /** Tarjan's walk. */
    private final class Search {
        private final Map<String, Integer> numbers = new HashMap<>();
        private final Deque<String> open = new ArrayDeque<>();
        private final Set<String> isOpen = new HashSet<>();
        private final List<List<String>> found = new ArrayList<>();

        List<List<String>> cycles() {
            for (String name : edges.keySet()) {
                if (!numbers.containsKey(name)) {
                    visit(name);
                }
            }
            found.sort((one, other) -> Integer.compare(other.size(), one.size()));
            return found;
        }

        private int visit(String name) {
            int number = numbers.size();
            numbers.put(name, number);
            open.push(name);
            isOpen.add(name);
            int low = number;
            for (String next : edges.getOrDefault(name, Set.of())) {
                Integer seen = numbers.get(next);
                if (seen == null) {
                    low = Math.min(low, visit(next));
                } else if (isOpen.contains(next)) {
                    low = Math.min(low, seen);
                }
            }
            if (low == number) {
                close(name);
            }
            return low;
        }

        /** All that is open since this name, and the name, are a component. */
        private void close(String name) {
            List<String> component = new ArrayList<>();
            String last;
            do {
                last = open.pop();
                isOpen.remove(last);
                component.add(last);
            } while (!last.equals(name));
            if (component.size() > 1) {
                Collections.sort(component);
                found.add(component);
            }
        }
    }
}
