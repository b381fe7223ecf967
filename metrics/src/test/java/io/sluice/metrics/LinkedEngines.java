package io.sluice.metrics;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Two engines of this process, called source and target, and a connection over tcp. */
final class LinkedEngines implements AutoCloseable {
    static final Duration BOUND = Patience.BOUND;
    static final int REGION_BYTES = 1 << 20;

    private final TransferEngine source;
    private final TransferEngine target;
    private final MemoryRegion local;
    private final MemoryRegion offered;
    private final Connection connection;
    private final RemoteRegion remote;

    private LinkedEngines(TransferEngine source, TransferEngine target) throws Exception {
        this.source = source;
        this.target = target;
        this.local = source.allocate(REGION_BYTES, RegionOptions.local());
        this.offered = target.allocate(REGION_BYTES, RegionOptions.readWrite());
        this.connection = await(source.connect(target.address()));
        this.remote = await(connection.attach(offered.descriptor()));
    }

    static LinkedEngines open() throws Exception {
        return open(options -> {});
    }

    static LinkedEngines open(Consumer<EngineOptions.Builder> ofSource) throws Exception {
        // over tcp the target takes part, so that it has served something
        EngineOptions.Builder both = patient();
        TransferEngine source = TransferEngine.open(
                both.name("source").noListener().with(ofSource).build());
        TransferEngine target = TransferEngine.open(patient().name("target").build());
        return new LinkedEngines(source, target);
    }

    /** A peer that gets no processor for a while is not given up. */
    private static EngineOptions.Builder patient() {
        return PatientOptions.builder().transports(List.of("tcp")).livenessTimeout(BOUND);
    }

    TransferEngine source() {
        return source;
    }

    TransferEngine target() {
        return target;
    }

    Connection connection() {
        return connection;
    }

    /** Writes so often, 32 at a time, and waits until all have ended and are counted. */
    void write(int transfers, int bytes) throws Exception {
        transfer(transfers, bytes, true);
    }

    void read(int transfers, int bytes) throws Exception {
        transfer(transfers, bytes, false);
    }

    private void transfer(int transfers, int bytes, boolean write) throws Exception {
        Operation operation = write ? Operation.WRITE : Operation.READ;
        long before = source.metrics().bytes(operation);
        CompletableFuture<Void> done = new CompletableFuture<>();
        AtomicInteger submitted = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        Runnable[] next = new Runnable[1];
        next[0] = () -> {
            if (submitted.incrementAndGet() > transfers) {
                return;
            }
            TransferCallback callback = (transfer, error) -> {
                if (error != null) {
                    done.completeExceptionally(error);
                } else if (ended.incrementAndGet() == transfers) {
                    done.complete(null);
                } else {
                    next[0].run();
                }
            };
            if (write) {
                connection.write(local, 0, remote, 0, bytes, TransferOptions.defaults(), callback);
            } else {
                connection.read(local, 0, remote, 0, bytes, TransferOptions.defaults(), callback);
            }
        };
        for (int i = 0; i < Math.min(32, transfers); i++) {
            next[0].run();
        }
        await(done);
        // the bytes are counted last
        long after = before + (long) transfers * bytes;
        Patience.until("all are counted", () -> source.metrics().bytes(operation) >= after);
    }

    /** Writes, and runs something on the poller when that is done. */
    void writeAndRun(Runnable onPoller) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        connection.write(local, 0, remote, 0, 1, TransferOptions.defaults(), (transfer, error) -> {
            onPoller.run();
            done.complete(null);
        });
        await(done);
    }

    static <T> T await(CompletableFuture<T> future) throws Exception {
        return future.get(BOUND.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        source.close();
        target.close();
    }
}
