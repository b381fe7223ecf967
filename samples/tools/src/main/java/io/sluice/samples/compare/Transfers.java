package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.bench.Buffers;
import io.sluice.samples.report.ByteSize;

/**
 * Transfers of this engine that are compared with something else.
 *
 * @param size of an element, in bytes
 * @param iov elements of a transfer, 1 if it is not vectored
 * @param inflight elements in flight on each connection
 * @param connections how many, all driven alike
 * @param isScraped whether the meters of the initiator's engine are bound to a Prometheus registry, scraped each second
 */
record Transfers(
        Route route,
        BenchOperation operation,
        long size,
        int iov,
        int inflight,
        int connections,
        Buffers buffers,
        IdlePollers idle,
        boolean isScraped,
        Security security)
        implements Workload {
    /** Single ones on one connection, with one buffer, as an engine does by default. */
    static Transfers of(Route route, BenchOperation operation, long size, int inflight) {
        return new Transfers(
                route, operation, size, 1, inflight, 1, Buffers.SINGLE, IdlePollers.PARK, false, Security.OFF);
    }

    /** Vectored ones, of so many elements as are in flight. */
    static Transfers vectored(Route route, BenchOperation operation, long size, int iov) {
        return of(route, operation, size, iov).withElements(iov);
    }

    /** The single read or write that each of its elements is. */
    BenchOperation elementOperation() {
        return operation.isRead() ? BenchOperation.READ : BenchOperation.WRITE;
    }

    /** Connections, made one after the other. */
    static Transfers connects(Route route) {
        return of(route, BenchOperation.CONNECT, 0, 1);
    }

    /** The same, each of so many elements. */
    Transfers withElements(int count) {
        return new Transfers(route, operation, size, count, inflight, connections, buffers, idle, isScraped, security);
    }

    Transfers withConnections(int count) {
        return new Transfers(route, operation, size, iov, inflight, count, buffers, idle, isScraped, security);
    }

    Transfers with(Buffers other) {
        return new Transfers(route, operation, size, iov, inflight, connections, other, idle, isScraped, security);
    }

    Transfers with(IdlePollers other) {
        return new Transfers(route, operation, size, iov, inflight, connections, buffers, other, isScraped, security);
    }

    Transfers scraped() {
        return new Transfers(route, operation, size, iov, inflight, connections, buffers, idle, true, security);
    }

    Transfers with(Security other) {
        return new Transfers(route, operation, size, iov, inflight, connections, buffers, idle, isScraped, other);
    }

    @Override
    public String name() {
        if (operation == BenchOperation.CONNECT) {
            return route.prefix() + operation;
        }
        return route.prefix()
                + operation
                + (iov > 1 ? "-" + iov + "x" : "-")
                + ByteSize.format(size).replace(" ", "")
                + (connections > 1 ? "-" + connections + "-connections" : "");
    }

    @Override
    public String doing() {
        return operation.toString();
    }

    @Override
    public Measurement measurement(Api api) {
        return new OwnTransfers(this, api);
    }

    String description() {
        StringBuilder text = new StringBuilder(operation.toString());
        if (operation == BenchOperation.CONNECT) {
            text.append(" over ").append(route);
        } else {
            text.append(iov > 1 ? " of " + iov + " times " : " of ")
                    .append(ByteSize.format(size))
                    .append(" over ")
                    .append(route)
                    .append(", ")
                    .append(inflight)
                    .append(" in flight")
                    .append(connections > 1 ? " on each of " + connections + " connections" : "")
                    .append(buffers == Buffers.SINGLE ? "" : ", distinct buffers");
        }
        return text.append(idle.description().isEmpty() ? "" : ", " + idle.description())
                .append(isScraped ? ", metrics bound and scraped" : "")
                .append(security == Security.OFF ? "" : ", " + security.description())
                .toString();
    }
}
