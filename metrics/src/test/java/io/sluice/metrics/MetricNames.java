package io.sluice.metrics;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Names of metrics, in expressions of Prometheus and in documents. */
final class MetricNames {
    private static final Pattern OF_A_METER = Pattern.compile("(?<![\\w:])sluice_\\w+");
    private static final Pattern RECORDED = Pattern.compile("(?<![\\w:])sluice:[\\w:]+");

    private MetricNames() {}

    /** All there are. */
    static Stream<ExportedMeter> meters() {
        return Stream.concat(Arrays.stream(EngineMeter.values()), Arrays.stream(GpuMeter.values()));
    }

    /** Those that Prometheus gets. */
    static Set<String> all() {
        return meters().map(ExportedMeter::prometheusNames)
                .flatMap(List::stream)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Those of meters in a text. */
    static Set<String> in(String text) {
        return found(OF_A_METER, text);
    }

    /** Those of recording rules in a text. */
    static Set<String> recordedIn(String text) {
        return found(RECORDED, text);
    }

    private static Set<String> found(Pattern name, String text) {
        return name.matcher(text).results().map(MatchResult::group).collect(Collectors.toUnmodifiableSet());
    }
}
