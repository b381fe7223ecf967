package io.sluice.samples.compare;

import static io.sluice.samples.compare.Sizes.IN_FLIGHT;
import static io.sluice.samples.compare.Sizes.PAGE;
import static io.sluice.samples.compare.Sizes.WORD;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchOperation;
import java.util.List;

/** Much of something compared with less of it. */
final class ScaleComparisons {
    private static final int THOUSAND = 1000;
    private static final int MOST_ELEMENTS = 100 * THOUSAND;
    private static final int WINDOW = 256;

    /** An element of a long call may take so much longer than one of a short one. */
    private static final double GROWTH = 1.2;

    private static final double CONNECT_MICROS = 1000;

    private ScaleComparisons() {}

    static List<Comparison> all() {
        return List.of(
                connections(8),
                connections(64),
                connections(512),
                elements(BenchOperation.WRITEV),
                elements(BenchOperation.READV),
                connect(Route.TCP),
                connect(Route.SHM));
    }

    private static Comparison connections(int count) {
        Transfers one = Transfers.of(Route.TCP, BenchOperation.WRITE, PAGE, IN_FLIGHT);
        Transfers many = one.withConnections(count);
        return Comparison.ofOwn(one, many, Api.REACTOR, "1-connection", Quantity.TRANSFERS_PER_SECOND)
                .with(Goal.atLeast(0.8));
    }

    private static Comparison elements(BenchOperation operation) {
        Transfers few = Transfers.of(Route.TCP, operation, WORD, WINDOW).withElements(THOUSAND);
        Transfers many = few.withElements(MOST_ELEMENTS);
        return Comparison.ofOwn(few, many, Api.REACTOR, THOUSAND + "-elements", Quantity.ELEMENTS_PER_SECOND)
                .with(Goal.atLeast(1 / GROWTH));
    }

    private static Comparison connect(Route route) {
        return Comparison.atMost(
                Transfers.connects(route),
                Api.ENGINE,
                "latency",
                new FixedTarget(Quantity.MEDIAN_MICROSECONDS, CONNECT_MICROS));
    }
}
