package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Filling;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.bootstrap.MessageSocket;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An engine with a region of which strangers are given the middle only, and an honest engine that is connected to it from the
 * beginning. The margins stay unchanged and the honest engine is served under any attack.
 */
final class GuardedTarget implements AutoCloseable {
    static final int MARGIN = 4096;
    static final int SLICE = 64 * 1024;
    /** For rounds of a target that is to end a peer because it keeps silent, or takes nothing. */
    static final Duration LIVENESS = Duration.ofSeconds(1);
    /** Everywhere else: a peer that says nothing for a while is alive, and one that breaks a rule is ended at once. */
    private static final Duration PATIENT = Patience.BOUND.multipliedBy(2);

    private static final int HONEST_BYTES = 4096;
    private static final long OLD = 1;

    private final CapturedLog log = CapturedLog.warnings();
    private final TransferEngine engine;
    private final TransferEngine honest;
    private final Connection honestConnection;
    private final MemoryRegion region;
    private final MemoryRegion honestRegion;
    private final MemoryRegion honestSource;
    private final RemoteRegion honestRemote;
    private long round = 100;

    GuardedTarget() {
        this(options -> {});
    }

    GuardedTarget(Consumer<EngineOptions.Builder> change) {
        EngineOptions options = PatientOptions.builder()
                .transports(List.of("tcp"))
                .livenessTimeout(PATIENT)
                .connectTimeout(Patience.BOUND)
                .with(change)
                .build();
        engine = TransferEngine.open(options);
        honest = TransferEngine.open(options);
        honestConnection = Patience.await(honest.connect(engine.address()));
        region = engine.allocate(MARGIN + SLICE + MARGIN, RegionOptions.readWrite());
        Filling.fill(region.segment(), OLD);
        honestRegion = engine.allocate(HONEST_BYTES, RegionOptions.readWrite());
        honestSource = honest.allocate(HONEST_BYTES, RegionOptions.local());
        honestRemote = Patience.await(honestConnection.attach(honestRegion.descriptor()));
    }

    TransferEngine engine() {
        return engine;
    }

    MemoryRegion region() {
        return region;
    }

    /** The slice that strangers get. */
    RegionDescriptor slice() {
        return region.slice(MARGIN, SLICE).descriptor();
    }

    RawPeer stranger() {
        return RawPeer.connected(engine);
    }

    /** A request for the slice as it should be. */
    static RawLane.Claim claim(long handle, RegionDescriptor descriptor) {
        return new RawLane.Claim(handle, descriptor.key(), descriptor.epoch(), 0, 0);
    }

    /** The slice's first content. */
    static byte[] old(int from, int count) {
        return Filling.bytes(OLD, MARGIN + from, count);
    }

    byte[] slice(int from, int count) {
        byte[] bytes = new byte[count];
        MemorySegment.copy(region.segment(), ValueLayout.JAVA_BYTE, MARGIN + from, bytes, 0, count);
        return bytes;
    }

    void assertMarginsUnchanged() {
        Filling.assertFilled(region.segment(), OLD, 0, MARGIN);
        Filling.assertFilled(region.segment(), OLD, MARGIN + SLICE, region.length());
    }

    void assertRegionUnchanged() {
        Filling.assertFilled(region.segment(), OLD, 0, region.length());
    }

    /** The old connection still works, the pollers accept a new one, and the log has no unexpected lines. */
    void assertHonestIsServed() {
        round++;
        Filling.fill(honestSource.segment(), round);
        Patience.await(write(honestConnection));
        Filling.assertFilled(honestRegion.segment(), round, 0, HONEST_BYTES);
        Connection fresh = Patience.await(honest.connect(engine.address()));
        RemoteRegion remote = Patience.await(fresh.attach(honestRegion.descriptor()));
        CompletableFuture<Void> read = new CompletableFuture<>();
        fresh.read(
                honestSource,
                0,
                remote,
                0,
                HONEST_BYTES,
                TransferOptions.defaults(),
                (transfer, error) -> end(read, error));
        Patience.await(read);
        Filling.assertFilled(honestSource.segment(), round, 0, HONEST_BYTES);
        Patience.await(fresh.close());
        log.assertNoErrors();
    }

    private CompletableFuture<Void> write(Connection connection) {
        CompletableFuture<Void> written = new CompletableFuture<>();
        connection.write(
                honestSource,
                0,
                honestRemote,
                0,
                HONEST_BYTES,
                TransferOptions.defaults(),
                (Transfer transfer, @Nullable SluiceException error) -> end(written, error));
        return written;
    }

    static void end(CompletableFuture<Void> future, @Nullable SluiceException error) {
        if (error == null) {
            future.complete(null);
        } else {
            future.completeExceptionally(error);
        }
    }

    /** The engine has ended this peer's connection, and no other. */
    void assertEnded(RawPeer peer) {
        Patience.until("the connection is ended", () -> peer.isGoneFrom(engine));
        MessageSocket.awaitEnd(peer.lane(0));
        peer.control().awaitEnd();
        assertHonestIsServed();
    }

    void assertRefused(long count) {
        Patience.until("all are counted", () -> EngineSums.ofTransports(engine, TransportMetrics::refused) >= count);
        assertThat(EngineSums.ofTransports(engine, TransportMetrics::refused)).isEqualTo(count);
    }

    @Override
    public void close() {
        Patience.await(CompletableFuture.allOf(honest.closeAsync(), engine.closeAsync()));
        log.close();
    }
}
