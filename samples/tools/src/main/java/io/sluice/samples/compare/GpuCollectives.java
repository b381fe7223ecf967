package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchCollective;
import io.sluice.samples.report.ByteSize;

/**
 * A collective of float32 of two GPUs, a process each; sums where elements are reduced.
 *
 * @param size in bytes, as {@code bench} counts it
 * @param graph how many a graph of the driver starts; 0 to start each by itself
 */
record GpuCollectives(BenchCollective collective, long size, int graph) implements Workload {
    static final int RANKS = 2;

    @Override
    public Route route() {
        return Route.GPUS;
    }

    @Override
    public String name() {
        return route().prefix() + collective + "-" + ByteSize.format(size).replace(" ", "")
                + (graph > 0 ? "-graph-" + graph : "");
    }

    @Override
    public String doing() {
        return collective.toString();
    }

    @Override
    public int inflight() {
        return 1;
    }

    @Override
    public Measurement measurement(Api api) {
        return new OwnGpuCollectives(this);
    }

    String description() {
        return collective + " of " + ByteSize.format(size) + " of " + RANKS + " GPUs"
                + (graph > 0 ? ", a graph of " + graph : ", one by one");
    }

    /** What is compared, of either side. */
    Figures figures(double deviceMicros, double roundTripMicros) {
        return Figures.of(Quantity.DEVICE_MICROSECONDS, deviceMicros)
                .with(Quantity.MEDIAN_MICROSECONDS, roundTripMicros)
                .with(Quantity.BUS_GIGABYTES_PER_SECOND, size * collective.busFactor(RANKS) / deviceMicros / 1e3);
    }
}
