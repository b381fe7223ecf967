package io.sluice.samples.compare;

import io.sluice.samples.bench.Operation;
import io.sluice.samples.report.ByteSize;

/**
 * Transfers of this engine that are compared with something else.
 *
 * @param route how their bytes go
 * @param operation what a transfer does
 * @param size of an element, in bytes
 * @param iov elements of a transfer, 1 if it is not vectored
 * @param inflight elements in flight
 * @param idle what the pollers do while there is nothing to do
 * @param metrics whether somebody watches the initiator's engine
 * @param security how the engines authenticate
 */
record Subject(
        Route route,
        Operation operation,
        long size,
        int iov,
        int inflight,
        IdlePollers idle,
        Metrics metrics,
        Security security) {

    /** Transfers between engines that trust each other without a proof. */
    Subject(Route route, Operation operation, long size, int iov, int inflight, IdlePollers idle, Metrics metrics) {
        this(route, operation, size, iov, inflight, idle, metrics, Security.OFF);
    }

    /** The same, and whether somebody watches. */
    Subject with(Metrics other) {
        return new Subject(route, operation, size, iov, inflight, idle, other, security);
    }

    /** The same between engines that authenticate so. */
    Subject with(Security other) {
        return new Subject(route, operation, size, iov, inflight, idle, metrics, other);
    }

    /** What the name of a comparison begins with. */
    String name() {
        return route.prefix() + operation + "-" + ByteSize.format(size).replace(" ", "");
    }

    /** For messages. */
    String description() {
        return operation
                + (iov > 1 ? " of " + iov + " times " : " of ")
                + ByteSize.format(size)
                + " over "
                + route
                + ", "
                + inflight
                + " in flight"
                + (metrics == Metrics.SCRAPED ? ", metrics bound and scraped" : "")
                + (security == Security.OFF ? "" : ", " + security.description());
    }
}
