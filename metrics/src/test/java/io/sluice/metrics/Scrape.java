package io.sluice.metrics;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The parsed text of one scrape of a Prometheus registry. */
final class Scrape {
    private final Map<String, String> types = new LinkedHashMap<>();
    private final Map<String, Double> values = new LinkedHashMap<>();

    private Scrape() {}

    static Scrape of(String text) {
        Scrape scrape = new Scrape();
        text.lines().forEach(line -> {
            if (line.startsWith("# TYPE ")) {
                String[] words = line.split(" ", -1);
                scrape.types.put(words[2], words[3]);
            } else if (!line.startsWith("#") && !line.isBlank()) {
                int space = line.lastIndexOf(' ');
                Double before = scrape.values.put(line.substring(0, space), number(line.substring(space + 1)));
                if (before != null) {
                    throw new AssertionError("twice: " + line);
                }
            }
        });
        return scrape;
    }

    private static double number(String text) {
        return switch (text) {
            case "+Inf" -> Double.POSITIVE_INFINITY;
            case "-Inf" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(text);
        };
    }

    String type(String family) {
        return types.getOrDefault(family, "none");
    }

    /** Names with their labels. */
    Set<String> series(String... labels) {
        return values.keySet().stream()
                .filter(series -> Arrays.stream(labels).allMatch(series::contains))
                .collect(Collectors.toSet());
    }

    /** Names without labels. */
    Set<String> names() {
        return values.keySet().stream()
                .map(series -> series.replaceFirst("\\{.*", ""))
                .collect(Collectors.toSet());
    }

    /** Of the one series with this name and these labels, among others. */
    double value(String name, String... labels) {
        List<String> found = series(labels).stream()
                .filter(series -> series.startsWith(name + "{"))
                .toList();
        if (found.size() != 1) {
            throw new AssertionError(name + " with " + List.of(labels) + ": " + found);
        }
        return values.get(found.getFirst());
    }

    double sum(String name, String... labels) {
        return series(labels).stream()
                .filter(series -> series.startsWith(name + "{"))
                .mapToDouble(values::get)
                .sum();
    }

    /** The upper bounds of a histogram's buckets, in its order. */
    List<Double> bounds(String histogram, String... labels) {
        return values.keySet().stream()
                .filter(series -> series.startsWith(histogram + "_bucket{"))
                .filter(series -> Arrays.stream(labels).allMatch(series::contains))
                .map(series -> number(series.replaceFirst(".*le=\"([^\"]*)\".*", "$1")))
                .toList();
    }

    /** Its accumulated counts. */
    List<Double> buckets(String histogram, String... labels) {
        return values.entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(histogram + "_bucket{"))
                .filter(entry -> Arrays.stream(labels).allMatch(entry.getKey()::contains))
                .map(Map.Entry::getValue)
                .toList();
    }
}
