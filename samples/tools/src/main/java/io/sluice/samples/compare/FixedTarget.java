package io.sluice.samples.compare;

import java.util.Locale;
import java.util.Map;

/** A fixed figure that others are to reach: there is nothing to measure, and the ratio to it is that to a goal. */
record FixedTarget(Quantity quantity, double value) implements Measurement {
    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        return String.format(Locale.ROOT, quantity.format(), value) + " " + quantity.unit() + ", a fixed figure";
    }

    @Override
    public Figures run(BenchEnvironment workbench) {
        return figures();
    }

    private Figures figures() {
        return new Figures(Map.of(quantity, value));
    }

    /** As though it had been measured once. */
    Series series() {
        Series series = new Series();
        series.add(figures());
        return series;
    }
}
