package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The measurement of one size, on connections of its own, so that their high-water marks are its own, too. */
final class SizeRun implements AutoCloseable {

    private final TransferEngine engine;
    private final BenchPlan plan;
    private final Layout layout;
    private final SideChannel side;
    private final MemoryRegion local;
    private final List<Connection> connections = new ArrayList<>();
    private final List<RemoteRegion> remotes = new ArrayList<>();
    private final List<Notifications> notifications = new ArrayList<>();
    private @Nullable Content content;

    SizeRun(TransferEngine engine, BenchPlan plan, long size, SideChannel side) {
        this.engine = engine;
        this.plan = plan;
        this.layout = Layout.of(plan, size);
        this.side = side;
        this.local = engine.allocate(
                Math.multiplyExact(layout.localBytes(), (long) plan.connections()), RegionOptions.local());
    }

    /** Connects, warms up, measures. */
    BenchResult measure(EngineAddress address, String region, BooleanSupplier interrupted) {
        List<Driver> drivers = new ArrayList<>();
        for (int i = 0; i < plan.connections(); i++) {
            Connection connection = Waiting.await(engine.connect(address), "connecting");
            connections.add(connection);
            remotes.add(SideChannel.attach(connection, region));
            drivers.add(driver(i));
        }
        content = content(drivers);
        Content checked = plan.verify() ? content : null;
        Rounds rounds = new Rounds(drivers, local, remotes, checked, layout.roundTransfers(), interrupted);
        rounds.run(plan.warmup(), new Usage(side));
        Usage usage = new Usage(side);
        rounds.run(plan.duration(), usage);
        return result(drivers, usage, rounds.differing());
    }

    private Driver driver(int index) {
        Connection connection = connections.get(index);
        boolean inTurn = plan.verify();
        Submission submission;
        if (plan.operation() == Operation.NOTIFY) {
            Notifications sender =
                    new Notifications(connection, plan.api(), Math.toIntExact(layout.size()), plan.verify());
            notifications.add(sender);
            submission = sender;
        } else {
            submission = new Submissions(
                            connection,
                            local,
                            index * layout.localBytes(),
                            remotes.get(index),
                            index * layout.remoteBytes(),
                            layout)
                    .of(plan.operation(), plan.api(), plan.iov());
        }
        return new Driver(connection, submission, plan.transfersAtATime(), layout.transfers(plan.iov()), inTurn);
    }

    private @Nullable Content content(List<Driver> drivers) {
        return switch (plan.operation()) {
            case WRITE, WRITEV -> new WrittenContent(engine, layout, plan.iov(), local, side);
            case READ, READV -> new ReadContent(engine, layout, plan.iov(), local, plan.connections(), side);
            case FETCH_ADD, SIGNAL ->
                new AddedContent(engine, layout, drivers, plan.operation() == Operation.FETCH_ADD, side);
            case NOTIFY -> plan.verify() ? new NotifiedContent(notifications, connections) : null;
        };
    }

    private BenchResult result(List<Driver> drivers, Usage usage, long differing) {
        Histogram latencies = drivers.getFirst().latencies().copy();
        drivers.stream().skip(1).forEach(driver -> latencies.add(driver.latencies()));
        long transfers = drivers.stream().mapToLong(Driver::transfers).sum();
        return new BenchResult(
                connections.getFirst().transport(),
                plan.operation().toString(),
                plan.api().toString(),
                layout.size(),
                plan.inflight(),
                plan.iov(),
                plan.connections(),
                plan.buffers().toString(),
                usage.seconds(),
                transfers,
                transfers * plan.iov(),
                latencies.getTotalCount() * plan.iov() * layout.size(),
                LatencyMicros.of(latencies),
                drivers.stream().mapToLong(Driver::errors).sum(),
                plan.verify() ? differing == 0 && drivers.stream().noneMatch(Driver::isStopped) : null,
                drivers.stream().mapToLong(this::mostOperations).max().orElse(0),
                drivers.stream().mapToLong(this::mostBytes).max().orElse(0),
                usage.cpuSeconds(),
                usage.serverCpuSeconds(),
                transfers == 0 ? 0 : (double) usage.allocatedBytes() / transfers,
                differing,
                drivers.stream()
                        .map(Driver::firstError)
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null));
    }

    /** Notifications take no credits of the window: they are counted as they are submitted. */
    private long mostOperations(Driver driver) {
        return plan.operation() == Operation.NOTIFY
                ? driver.mostOutstanding()
                : driver.connection().window().maxOperationsSeen();
    }

    private long mostBytes(Driver driver) {
        return plan.operation() == Operation.NOTIFY
                ? driver.mostOutstanding() * layout.size()
                : driver.connection().window().maxBytesSeen();
    }

    @Override
    public void close() {
        Content toClose = content;
        if (toClose != null) {
            toClose.close();
        }
        connections.forEach(connection -> Waiting.await(connection.close(), "closing a connection"));
        Waiting.await(local.close(), "giving memory back");
    }
}
