package io.sluice.samples.compare;

import java.util.EnumMap;
import java.util.Map;

/** The figures of one run of a measurement. */
record Figures(Map<Quantity, Double> values) {
    Figures {
        values = Map.copyOf(values);
    }

    static Figures of(Quantity quantity, double value) {
        return new Figures(Map.of(quantity, value));
    }

    /** Of a program that tells the bytes alone. */
    static Figures ofBandwidth(double gigabytesPerSecond) {
        return of(Quantity.GIGABYTES_PER_SECOND, gigabytesPerSecond);
    }

    static Figures ofRate(double transfersPerSecond, long size) {
        return new Figures(Map.of(
                Quantity.TRANSFERS_PER_SECOND,
                transfersPerSecond,
                Quantity.GIGABYTES_PER_SECOND,
                transfersPerSecond * size / 1e9));
    }

    static Figures ofLatency(double medianMicros, double tail) {
        return new Figures(Map.of(Quantity.MEDIAN_MICROSECONDS, medianMicros, Quantity.TAIL, tail));
    }

    Figures with(Quantity quantity, double value) {
        Map<Quantity, Double> more = new EnumMap<>(values);
        more.put(quantity, value);
        return new Figures(more);
    }

    /**
     * These, if they make sense.
     *
     * @throws MeasurementFailedException if one of them is no number, or not positive where it has to be
     */
    Figures checked() throws MeasurementFailedException {
        for (Map.Entry<Quantity, Double> entry : values.entrySet()) {
            double value = entry.getValue();
            if (!Double.isFinite(value) || !entry.getKey().isPossible(value)) {
                throw new MeasurementFailedException(
                        "it printed " + value + " " + entry.getKey().unit());
            }
        }
        return this;
    }
}
