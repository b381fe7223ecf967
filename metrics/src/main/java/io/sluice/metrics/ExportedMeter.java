package io.sluice.metrics;

import java.util.ArrayList;
import java.util.List;

/** A meter that this module registers, with its name and meaning. Each has the tag {@code engine} in addition to its own. */
public sealed interface ExportedMeter permits EngineMeter, GpuMeter {
    /**
     * Returns the meter's name, with dots.
     *
     * @return the name to which a registry applies its naming convention
     */
    String meterName();

    /**
     * Returns the kind of meter.
     *
     * @return the kind
     */
    EngineMeter.Type type();

    /**
     * Returns the base unit.
     *
     * @return {@code bytes}, {@code seconds}, or empty; limits have none, so that no registry appends it to their names
     */
    String unit();

    /**
     * Returns the meaning of the meter.
     *
     * @return one line
     */
    String description();

    /**
     * Returns the tags in addition to {@link EngineMeter#ENGINE_TAG}.
     *
     * @return the keys
     */
    List<String> tags();

    /**
     * Returns the meter's names in Prometheus.
     *
     * @return one name, or several for a histogram or timer
     */
    default List<String> prometheusNames() {
        String base = meterName().replace('.', '_');
        if (!unit().isEmpty() && !base.endsWith("_" + unit())) {
            base += "_" + unit();
        }
        List<String> names = new ArrayList<>();
        switch (type()) {
            case COUNTER -> names.add(base + "_total");
            case GAUGE -> names.add(base);
            case HISTOGRAM -> {
                names.add(base + "_bucket");
                names.add(base + "_count");
                names.add(base + "_sum");
            }
            case TIMER -> {
                names.add(base + "_count");
                names.add(base + "_sum");
            }
        }
        return List.copyOf(names);
    }
}
