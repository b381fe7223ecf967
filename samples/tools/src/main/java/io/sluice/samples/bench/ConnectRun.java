package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/**
 * Connections that are made and closed one after the other. The time is that from the call to the moment at which a
 * transfer could be started; the rate counts the closing, too.
 */
final class ConnectRun {
    private static final long LONGEST_NANOS = 3_600_000_000_000L;
    private static final Duration WARMUP_TURN = Duration.ofMillis(100);

    private final Initiator initiator;
    private final BenchPlan plan;
    private final SideChannel side;
    private final Histogram latencies = new Histogram(LONGEST_NANOS, 3);
    private String transport = "";

    ConnectRun(Initiator initiator, BenchPlan plan, SideChannel side) {
        this.initiator = initiator;
        this.plan = plan;
        this.side = side;
    }

    BenchResult measure(EngineAddress address, BooleanSupplier interrupted) {
        warm(plan.warmup(), address, interrupted);
        latencies.reset();
        Usage usage = new Usage(side);
        usage.begin();
        usage.add(connectFor(plan.duration(), address, interrupted));
        usage.end();
        return result(usage);
    }

    private void warm(Duration least, EngineAddress address, BooleanSupplier interrupted) {
        WarmupEnd end = new WarmupEnd(least);
        long warmed = 0;
        while (!end.isReached(warmed)) {
            warmed += connectFor(WARMUP_TURN, address, interrupted);
        }
    }

    /** Gives how long it took, in nanoseconds. One connection is made in any case. */
    private long connectFor(Duration time, EngineAddress address, BooleanSupplier interrupted) {
        long began = System.nanoTime();
        long now = began;
        do {
            if (interrupted.getAsBoolean()) {
                throw BenchException.failed("interrupted");
            }
            Connection connection = initiator.connect(address).connection();
            latencies.recordValue(Math.min(System.nanoTime() - now, LONGEST_NANOS));
            transport = connection.transport();
            Waiting.await(connection.close(), "closing a connection");
            now = System.nanoTime();
        } while (now - began < time.toNanos());
        return now - began;
    }

    private BenchResult result(Usage usage) {
        long connections = latencies.getTotalCount();
        return new BenchResult(
                transport,
                plan.operation().toString(),
                plan.api().toString(),
                0,
                1,
                1,
                1,
                plan.buffers().toString(),
                plan.regions().toString(),
                plan.memory().toString(),
                plan.serverPlace(side.remote()),
                transport,
                usage.seconds(),
                connections,
                0,
                0,
                BenchResult.LatencyMicros.of(latencies),
                0,
                null,
                0,
                0,
                usage.cpuSeconds(),
                usage.serverCpuSeconds(),
                (double) usage.allocatedBytes() / connections,
                (double) usage.transferThreadsBytes() / connections,
                null,
                0,
                null);
    }
}
