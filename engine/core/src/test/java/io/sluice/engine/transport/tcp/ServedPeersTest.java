package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Filling;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import io.sluice.engine.transport.tcp.RawLane.Frame;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import io.sluice.testkit.SteadyRounds;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Peers that ask for more than they take: each has a window at the engine that serves it. */
class ServedPeersTest {
    private static final int PIECE = 1024;
    private static final Duration BEAT = Duration.ofMillis(100);

    private static byte[] many(byte[] frame, int count) {
        byte[][] frames = new byte[count][];
        Arrays.fill(frames, frame);
        return RawLane.join(frames);
    }

    /** A peer that asks without end and takes nothing is not read from any more, and ended as it makes no progress. */
    @Test
    void slowReaderIsNotReadFromAndIsEnded() {
        SteadyRounds.run(GuardedTarget.LIVENESS, liveness -> {
            try (GuardedTarget target = new GuardedTarget(options -> options.livenessTimeout(liveness)
                            .maxServedRequests(64)
                            .servedWindowBytes(64 * 1024));
                    RawPeer peer = target.stranger().beatEvery(BEAT)) {
                RegionDescriptor descriptor = target.slice();
                Claim claim = GuardedTarget.claim(peer.attach(descriptor), descriptor);
                RawLane lane = new RawLane(peer.lane(0));
                byte[] requests = many(RawLane.read(claim.at(0, PIECE)), 1000);
                AtomicLong taken = new AtomicLong();
                CompletableFuture<Void> asking = CompletableFuture.runAsync(() -> {
                    try {
                        while (taken.addAndGet(requests.length) < 1L << 30) {
                            lane.send(requests);
                        }
                    } catch (UncheckedIOException cutOff) {
                        // That is what should happen.
                    }
                });
                Patience.await(asking);
                assertThat(taken.get()).as("requests that were taken from it").isLessThan(64 << 20);
                target.assertEnded(peer);
                Patience.await(target.region().close());
            }
        });
    }

    /**
     * A peer asks for far more than its window before it takes anything, then takes all: every answer comes, in order.
     */
    @Test
    void greedyReaderIsServedAsItTakesItsAnswers() {
        // an honest one is served first, and until then it takes nothing
        try (GuardedTarget target = new GuardedTarget(
                        options -> options.maxServedRequests(16).servedWindowBytes(64 * 1024));
                RawPeer peer = target.stranger().beatEvery(BEAT)) {
            RegionDescriptor descriptor = target.slice();
            Claim claim = GuardedTarget.claim(peer.attach(descriptor), descriptor);
            RawLane lane = new RawLane(peer.lane(0));
            int asked = 20_000;
            CompletableFuture<Void> asking = CompletableFuture.runAsync(() -> {
                for (int i = 0; i < asked; i += 100) {
                    byte[][] frames = new byte[100][];
                    for (int j = 0; j < 100; j++) {
                        frames[j] = RawLane.read(claim.at((i + j) % 1000, 1000));
                    }
                    lane.send(frames);
                }
            });
            target.assertHonestIsServed();
            for (int i = 0; i < asked; i++) {
                Frame answer = lane.receive();
                assertThat(answer.operation()).isEqualTo(RawLane.READ_DATA);
                if (i % 97 == 0) {
                    assertThat(answer.payload()).isEqualTo(GuardedTarget.old(i % 1000, 1000));
                }
            }
            Patience.await(asking);
            target.assertHonestIsServed();
        }
    }

    /** Two engines with the narrowest windows read from and write to each other at once: neither waits for the other for ever. */
    @Test
    void enginesKeepToTheWindowsTheyAreTold() {
        EngineOptions options = PatientOptions.builder()
                .transports(List.of("tcp"))
                .lanes(2)
                .maxServedRequests(3)
                .servedWindowBytes(64 * 1024)
                .livenessTimeout(Patience.BOUND.multipliedBy(2))
                .build();
        try (TransferEngine one = TransferEngine.open(options);
                TransferEngine other = TransferEngine.open(options)) {
            Connection there = Patience.await(one.connect(other.address()));
            Patience.until("the other side has it", () -> !other.connections().isEmpty());
            Connection back = other.connections().iterator().next();
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            ends.addAll(readsAndWrites(one, there, other));
            ends.addAll(readsAndWrites(other, back, one));
            ends.forEach(Patience::await);
            assertThat(there.state()).isEqualTo(ConnectionState.OPEN);
            assertThat(EngineSums.ofTransports(one, TransportMetrics::refused)).isZero();
        }
    }

    private static List<CompletableFuture<Void>> readsAndWrites(
            TransferEngine initiator, Connection connection, TransferEngine target) {
        int size = 4 << 20;
        MemoryRegion local = initiator.allocate(size, RegionOptions.local());
        MemoryRegion served = target.allocate(size, RegionOptions.readWrite());
        Filling.fill(local.segment(), 1);
        RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            CompletableFuture<Void> read = new CompletableFuture<>();
            CompletableFuture<Void> write = new CompletableFuture<>();
            // larger than the whole window, and smaller
            int bytes = i % 2 == 0 ? 1 << 20 : 5000;
            connection.read(
                    local,
                    size / 2,
                    remote,
                    size / 2,
                    bytes,
                    TransferOptions.defaults(),
                    (transfer, error) -> GuardedTarget.end(read, error));
            connection.write(
                    local,
                    0,
                    remote,
                    0,
                    bytes,
                    TransferOptions.defaults(),
                    (transfer, error) -> GuardedTarget.end(write, error));
            ends.add(read);
            ends.add(write);
        }
        return ends;
    }
}
