package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The measurement of one size, on connections of its own, so that their high-water marks are its own, too. */
final class SizeRun implements AutoCloseable {
    /** Large enough that no transport takes another way for it than for what is larger. */
    private static final long WARMUP_BYTES = 128 << 10;

    /** Turns of the copy: a shared machine's speed changes from one tenth of a second to the next. */
    private static final int MEMCPY_TURNS = 20;

    private final Initiator initiator;
    private final TransferEngine engine;
    private final BenchPlan plan;
    private final Layout layout;
    private final SideChannel side;
    private final Arena arena = Arena.ofShared();
    private final MemoryRegion local;
    private final LocalMemory localBytes;
    private final List<Initiator.ClientConnection> faces = new ArrayList<>();
    private final List<Connection> connections = new ArrayList<>();
    private final List<RemoteRegion> remotes = new ArrayList<>();
    private final List<Notifications> notifications = new ArrayList<>();
    private @Nullable Content content;
    private String path = "";

    SizeRun(Initiator initiator, BenchPlan plan, long size, SideChannel side) {
        this.initiator = initiator;
        this.engine = initiator.engine();
        this.plan = plan;
        this.layout = Layout.of(plan, size);
        this.side = side;
        long bytes = Math.multiplyExact(layout.localBytes(), (long) plan.connections());
        this.local = plan.regions().region(engine, bytes, plan.memory().of(RegionOptions.local()), arena);
        this.localBytes = new LocalMemory(engine, local, side, plan.scratchOffset(), arena);
    }

    BenchResult measure(EngineAddress address, String region, BooleanSupplier interrupted) {
        List<Driver> drivers = new ArrayList<>();
        for (int i = 0; i < plan.connections(); i++) {
            Initiator.ClientConnection face = initiator.connect(address);
            faces.add(face);
            connections.add(face.connection());
            remotes.add(SideChannel.attach(face.connection(), region));
            path = path(remotes.getFirst());
            drivers.add(driver(i, layout));
        }
        content = content(drivers);
        Content checked = plan.verify() ? content : null;
        Duration warmup = plan.warmup();
        List<Driver> warmups = List.of();
        if (checked == null && layout.size() > WARMUP_BYTES) {
            warmup = warmup.dividedBy(2);
            warmups = warmUp(warmup, interrupted);
        }
        try (Rounds rounds = new Rounds(drivers, checked, layout.roundTransfers(), interrupted)) {
            Usage usage = new Usage(side);
            Double copied;
            if (plan.memcpy() && checked == null) {
                copied = runBesideCopies(rounds, warmup, usage, interrupted);
            } else {
                rounds.run(warmup, plan.duration(), new Usage(side), usage);
                copied = plan.memcpy() ? copyAfterwards(interrupted) : null;
            }
            return result(drivers, warmups, usage, rounds.differing(), copied);
        }
    }

    /** The transport that carries these transfers, which fails here if none does. */
    private String path(RemoteRegion remote) {
        if (plan.operation() == BenchOperation.NOTIFY) {
            return connections.getFirst().transport();
        }
        return (plan.operation().isAddition() ? remote.wordPath() : remote.path(local.kind())).transport();
    }

    /** Smaller elements are so many more that the JVM has soon compiled what they go through. Gives what has driven them. */
    private List<Driver> warmUp(Duration time, BooleanSupplier interrupted) {
        Layout small = Layout.of(plan, WARMUP_BYTES);
        List<Driver> drivers = new ArrayList<>();
        for (int i = 0; i < plan.connections(); i++) {
            drivers.add(driver(i, small));
        }
        try (Rounds rounds = new Rounds(drivers, null, Long.MAX_VALUE, interrupted)) {
            rounds.run(Duration.ZERO, time, new Usage(side), new Usage(side));
        }
        return drivers;
    }

    /** Gives what memcpy does between the same memory in as much time, in GB a second, in turns with the transfers. */
    private double runBesideCopies(Rounds rounds, Duration warmup, Usage usage, BooleanSupplier interrupted) {
        PlainCopies copies = copies(interrupted);
        Duration turn = plan.duration().dividedBy(MEMCPY_TURNS);
        rounds.warmInTurns(warmup, turn, new Usage(side), copies::copyFor);
        copies.reset();
        rounds.runInTurns(plan.duration(), turn, usage, copies::copyFor);
        return copies.gigabytesPerSecond();
    }

    /** The same where bytes are compared: to find the peer's memory some of it is written, and copies would feign arrivals. */
    private double copyAfterwards(BooleanSupplier interrupted) {
        PlainCopies copies = copies(interrupted);
        copies.copyFor(plan.duration());
        return copies.gigabytesPerSecond();
    }

    private PlainCopies copies(BooleanSupplier interrupted) {
        MemorySegment theirs = PlainCopies.MappedPeerMemory.of(engine, side);
        return new PlainCopies(layout, local.segment(), theirs, plan.operation().isRead(), interrupted);
    }

    private Driver driver(int index, Layout ranges) {
        Initiator.ClientConnection face = faces.get(index);
        boolean inTurn = plan.verify();
        Submission submission;
        if (plan.operation() == BenchOperation.NOTIFY) {
            Notifications sender = new Notifications(face, plan.api(), Math.toIntExact(ranges.size()), plan.verify());
            notifications.add(sender);
            submission = sender;
        } else {
            submission = new Submissions(
                            face,
                            local,
                            index * ranges.localBytes(),
                            remotes.get(index),
                            index * ranges.remoteBytes(),
                            ranges)
                    .of(plan.operation(), plan.api(), plan.iov(), plan.transfersAtATime());
        }
        return new Driver(submission, plan.transfersAtATime(), ranges.transfers(plan.iov()), inTurn);
    }

    private @Nullable Content content(List<Driver> drivers) {
        return switch (plan.operation()) {
            case WRITE, WRITEV, WRITE_PAGES -> new Content.WrittenContent(engine, layout, plan.iov(), localBytes, side);
            case READ, READV, READ_PAGES ->
                new Content.ReadContent(engine, layout, plan.iov(), localBytes, plan.connections(), side);
            case FETCH_ADD, SIGNAL ->
                new Content.AddedContent(engine, layout, drivers, plan.operation() == BenchOperation.FETCH_ADD, side);
            case NOTIFY -> plan.verify() ? new Content.NotifiedContent(notifications, connections) : null;
            case CONNECT -> throw new IllegalArgumentException("a connection has no content");
        };
    }

    private BenchResult result(
            List<Driver> drivers, List<Driver> warmups, Usage usage, long differing, @Nullable Double copied) {
        List<Driver> all = Stream.concat(warmups.stream(), drivers.stream()).toList();
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
                plan.regions().toString(),
                plan.memory().toString(),
                plan.serverPlace(side.remote()),
                path,
                usage.seconds(),
                transfers,
                transfers * plan.iov(),
                drivers.stream().mapToLong(Driver::succeeded).sum() * plan.iov() * layout.size(),
                BenchResult.LatencyMicros.of(latencies),
                all.stream().mapToLong(Driver::errors).sum(),
                plan.verify() ? differing == 0 && drivers.stream().noneMatch(Driver::isStopped) : null,
                mostOperations(drivers),
                mostBytes(drivers),
                usage.cpuSeconds(),
                usage.serverCpuSeconds(),
                transfers == 0 ? 0 : (double) usage.allocatedBytes() / transfers,
                transfers == 0 ? 0 : (double) usage.transferThreadsBytes() / transfers,
                copied,
                differing,
                all.stream()
                        .map(Driver::firstError)
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null));
    }

    /** Notifications take no credits of the window: they are counted as they are submitted. */
    private long mostOperations(List<Driver> drivers) {
        return plan.operation() == BenchOperation.NOTIFY
                ? mostOutstanding(drivers)
                : connections.stream()
                        .mapToLong(connection -> connection.window().maxOperationsSeen())
                        .max()
                        .orElse(0);
    }

    private long mostBytes(List<Driver> drivers) {
        return plan.operation() == BenchOperation.NOTIFY
                ? mostOutstanding(drivers) * layout.size()
                : connections.stream()
                        .mapToLong(connection -> connection.window().maxBytesSeen())
                        .max()
                        .orElse(0);
    }

    private static long mostOutstanding(List<Driver> drivers) {
        return drivers.stream().mapToLong(Driver::mostOutstanding).max().orElse(0);
    }

    @Override
    public void close() {
        Content toClose = content;
        if (toClose != null) {
            toClose.close();
        }
        localBytes.close();
        connections.forEach(connection -> Waiting.await(connection.close(), "closing a connection"));
        Waiting.await(local.close(), "giving memory back");
        // Only now: nothing can touch the region's memory any more.
        arena.close();
    }
}
