package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchCollective;
import io.sluice.samples.report.ByteSize;

/**
 * A collective of float32, between ranks on this machine, a process each. Sums where elements are reduced.
 *
 * @param size in bytes, as {@code bench} counts it
 * @param persistent whether it is prepared once and started again
 */
record Collectives(Route route, BenchCollective collective, long size, int ranks, boolean persistent)
        implements Workload {
    /** Prepared ones. */
    static Collectives of(Route route, BenchCollective collective, long size, int ranks) {
        return new Collectives(route, collective, size, ranks, true);
    }

    /** The same, called each time. */
    Collectives calledOnce() {
        return new Collectives(route, collective, size, ranks, false);
    }

    @Override
    public String name() {
        String sized = size == 0 ? "" : "-" + ByteSize.format(size).replace(" ", "");
        return route.prefix() + collective + sized + "-" + ranks + "-ranks";
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
        return new OwnCollectives(this);
    }

    String description() {
        return collective + (size == 0 ? "" : " of " + ByteSize.format(size)) + " over " + route + ", " + ranks
                + " ranks";
    }
}
