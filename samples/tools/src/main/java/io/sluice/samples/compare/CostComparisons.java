package io.sluice.samples.compare;

import static io.sluice.samples.compare.Sizes.IN_FLIGHT;
import static io.sluice.samples.compare.Sizes.MIB;
import static io.sluice.samples.compare.Sizes.PAGE;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchOperation;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Transfers compared with the same ones without something, and what they take of processors and heap. */
final class CostComparisons {
    private static final double REACTOR_BYTES = 250;

    /** Less than one is none: what another thread of the JVM allocates may fall into the time. */
    private static final double NO_BYTES = 1;

    private CostComparisons() {}

    static List<Comparison> interfaces() {
        List<Comparison> comparisons = new ArrayList<>();
        for (Route route : List.of(Route.TCP, Route.SHM)) {
            Transfers writes = writes(route, PAGE);
            comparisons.add(Comparison.ofOwn(
                            writes, Api.ENGINE, writes, Api.REACTOR, "reactor-cost", Quantity.TRANSFERS_PER_SECOND)
                    .with(Goal.atLeast(0.9)));
            comparisons.add(allocation(writes, Api.REACTOR, REACTOR_BYTES));
            comparisons.add(allocation(writes, Api.ENGINE, NO_BYTES));
            comparisons.add(Comparison.ofOwn(
                            writes, Api.REACTOR, writes, Api.VERTX, "vertx-cost", Quantity.TRANSFERS_PER_SECOND)
                    .with(Goal.atLeast(0.9)));
        }
        return comparisons;
    }

    private static Comparison allocation(Transfers transfers, Api api, double mostBytes) {
        return Comparison.atMost(transfers, api, "allocation", new FixedTarget(Quantity.ALLOCATED_BYTES, mostBytes));
    }

    static List<Comparison> metrics() {
        return List.of(
                metrics(Route.TCP, "metrics-cost", Quantity.TRANSFERS_PER_SECOND)
                        .with(Goal.atLeast(0.97)),
                metrics(Route.SHM, "metrics-cost", Quantity.TRANSFERS_PER_SECOND)
                        .with(Goal.atLeast(0.97)),
                metrics(Route.TCP, "metrics-allocation", Quantity.ALLOCATED_BYTES),
                metrics(Route.SHM, "metrics-allocation", Quantity.ALLOCATED_BYTES));
    }

    private static Comparison metrics(Route route, String name, Quantity quantity) {
        Transfers unwatched = writes(route, PAGE);
        return Comparison.ofOwn(unwatched, unwatched.scraped(), Api.ENGINE, name, quantity);
    }

    static List<Comparison> security() {
        List<Comparison> comparisons = new ArrayList<>();
        for (long size : List.of(PAGE, MIB)) {
            for (Security security : List.of(Security.TOKEN, Security.TLS, Security.TLS_DATA)) {
                comparisons.add(security(writes(Route.TCP, size), security, Quantity.GIGABYTES_PER_SECOND));
            }
        }
        Transfers connects = Transfers.connects(Route.TCP);
        for (Security security : List.of(Security.TOKEN, Security.TLS, Security.TLS_DATA)) {
            comparisons.add(security(connects, security, Quantity.CONNECTS_PER_SECOND));
        }
        return comparisons;
    }

    private static Comparison security(Transfers open, Security security, Quantity quantity) {
        String name = security.name().toLowerCase(Locale.ROOT).replace('_', '-') + "-cost";
        return Comparison.ofOwn(open, open.with(security), Api.ENGINE, name, quantity);
    }

    static List<Comparison> integrity() {
        return List.of(
                checksums(BenchOperation.WRITE, PAGE, Quantity.TRANSFERS_PER_SECOND),
                checksums(BenchOperation.WRITE, MIB, Quantity.GIGABYTES_PER_SECOND),
                checksums(BenchOperation.READ, MIB, Quantity.GIGABYTES_PER_SECOND));
    }

    private static Comparison checksums(BenchOperation operation, long size, Quantity quantity) {
        Transfers plain = Transfers.of(Route.TCP, operation, size, IN_FLIGHT);
        Transfers checked = Transfers.of(Route.TCP_CRC32C, operation, size, IN_FLIGHT);
        return Comparison.ofOwn(plain, checked, Api.ENGINE, "crc-cost", quantity);
    }

    static List<Comparison> processors() {
        List<Comparison> comparisons = new ArrayList<>();
        for (BenchOperation operation : List.of(BenchOperation.WRITE, BenchOperation.READ)) {
            Transfers transfers = Transfers.of(Route.TCP, operation, MIB, IN_FLIGHT);
            comparisons.add(processors(transfers, "ucx-initiator-time", Quantity.INITIATOR_SECONDS_PER_GIGABYTE));
            comparisons.add(processors(transfers, "ucx-target-time", Quantity.TARGET_SECONDS_PER_GIGABYTE));
        }
        return comparisons;
    }

    private static Comparison processors(Transfers transfers, String name, Quantity quantity) {
        return new Comparison(transfers, null, name, Peer.UCX.measurement(transfers), quantity, Goal.atMost(1));
    }

    /** Programs that start, and one that only says hello. */
    static List<Comparison> starts() {
        return List.of(
                start(ProgramStart.Task.INFO, false).with(Goal.atMost(5)),
                start(ProgramStart.Task.FIRST_TRANSFER, false).with(Goal.atMost(10)),
                start(ProgramStart.Task.INFO, true).with(Goal.atMost(5)),
                start(ProgramStart.Task.FIRST_TRANSFER, true).with(Goal.atMost(10)));
    }

    private static Comparison start(ProgramStart.Task task, boolean cached) {
        return new Comparison(
                new ProgramStart(task, cached),
                Api.REACTOR,
                "hello",
                new ProgramStart(ProgramStart.Task.HELLO, false),
                Quantity.LIFETIME_MILLISECONDS,
                null);
    }

    private static Transfers writes(Route route, long size) {
        return Transfers.of(route, BenchOperation.WRITE, size, IN_FLIGHT);
    }
}
