package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Patience;
import io.sluice.testkit.SteadyRounds;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A peer that lives on its control channel and lets a lane starve: the lane's watchdog ends the connection, and no region
 * stays open for its sake.
 */
@Tag("filler")
class LaneSilenceTest {
    private static final Duration BEAT = Duration.ofMillis(100);
    private static final int LARGE = 16 << 20;

    private GuardedTarget target;
    private RawPeer peer;
    private RawLane lane;

    private void open(Duration liveness) {
        target = new GuardedTarget(options -> options.livenessTimeout(liveness).socketBufferBytes(32 * 1024));
        peer = target.stranger().beatEvery(BEAT);
        lane = new RawLane(peer.lane(0));
    }

    private void close() {
        peer.close();
        target.close();
    }

    /** Runs a round with a target that ends silent peers, and with a peer that only gives signs of life. */
    private void rounds(Runnable round) {
        SteadyRounds.run(GuardedTarget.LIVENESS, liveness -> {
            open(liveness);
            try {
                round.run();
            } finally {
                close();
            }
        });
    }

    private Claim attached(MemoryRegion region) {
        RegionDescriptor descriptor = region.descriptor();
        return GuardedTarget.claim(peer.attach(descriptor), descriptor);
    }

    private void assertWatchdogBites(CompletionStage<Void> ended) {
        assertThat(assertLost(ended)).hasMessageContaining("lane 0 made no progress");
    }

    private ConnectionLostException assertLost(CompletionStage<Void> ended) {
        ConnectionLostException error = Patience.failure(ended, ConnectionLostException.class);
        target.assertEnded(peer);
        assertLost(1);
        return error;
    }

    /** All at once, as each takes a liveness time-out. */
    @Test
    void halfAWriteThenNothing() {
        rounds(() -> {
            RegionDescriptor descriptor = target.region().descriptor();
            List<RawPeer> peers = new ArrayList<>();
            List<CompletionStage<Void>> ends = new ArrayList<>();
            for (int bytes :
                    new int[] {1, 20, RawLane.HEADER_BYTES, RawLane.HEADER_BYTES + 1, RawLane.HEADER_BYTES + 30_000}) {
                RawPeer silent = target.stranger().beatEvery(BEAT);
                peers.add(silent);
                Claim claim = GuardedTarget.claim(silent.attach(descriptor), descriptor);
                byte[] frame = RawLane.write(
                        claim.at(GuardedTarget.MARGIN, GuardedTarget.SLICE), new byte[GuardedTarget.SLICE]);
                ends.add(silent.in(target.engine()).ended());
                new RawLane(silent.lane(0)).send(Arrays.copyOf(frame, bytes));
            }
            assertWatchdogBites(peers, ends);
            Patience.await(target.region().close());
        });
    }

    private void assertWatchdogBites(List<RawPeer> peers, List<CompletionStage<Void>> ends) {
        for (CompletionStage<Void> ended : ends) {
            assertThat(Patience.failure(ended, ConnectionLostException.class))
                    .hasMessageContaining("lane 0 made no progress");
        }
        for (RawPeer each : peers) {
            target.assertEnded(each);
            each.close();
        }
        // and that of the one that lives is none of them
        assertLost(peers.size());
    }

    private void assertLost(long count) {
        Patience.until(
                "all are counted",
                () -> EngineSums.ofTransports(target.engine(), TransportMetrics::connectionsLost) >= count);
        assertThat(EngineSums.ofTransports(target.engine(), TransportMetrics::connectionsLost))
                .isEqualTo(count);
    }

    @Test
    void regionClosesAtOnceThoughHalfAWriteIsUnderWay() {
        // no time-out helps before the test's patience ends
        try (GuardedTarget patient = new GuardedTarget();
                RawPeer slow = patient.stranger()) {
            RegionDescriptor descriptor = patient.region().descriptor();
            Claim claim = GuardedTarget.claim(slow.attach(descriptor), descriptor);
            new RawLane(slow.lane(0))
                    .send(
                            RawLane.header(RawLane.WRITE, 0, claim.at(GuardedTarget.MARGIN, GuardedTarget.SLICE)),
                            new byte[1000]);
            Patience.until("the half is in place", () -> patient.slice(999, 1)[0] == 0);
            Patience.await(patient.region().close());
            patient.assertHonestIsServed();
        }
    }

    /** All at once, as each takes a liveness time-out. */
    @Test
    void halfAnAnswerThenNothing() {
        rounds(() -> {
            List<RawPeer> peers = new ArrayList<>();
            List<OwedTransfer> owed = new ArrayList<>();
            for (int bytes : new int[] {0, 1, 1000}) {
                RawPeer silent = target.stranger().beatEvery(BEAT);
                peers.add(silent);
                owed.add(OwedTransfer.read(target.engine(), silent, GuardedTarget.SLICE));
                RawLane slow = new RawLane(silent.lane(0));
                assertThat(slow.receive().operation()).isEqualTo(RawLane.READ);
                if (bytes > 0) {
                    slow.send(RawLane.readData(GuardedTarget.SLICE), new byte[bytes]);
                }
            }
            List<CompletionStage<Void>> ends = new ArrayList<>();
            owed.forEach(each -> ends.add(each.connection().ended()));
            assertWatchdogBites(peers, ends);
            for (OwedTransfer each : owed) {
                Patience.failure(each.end(), ConnectionLostException.class);
                Patience.await(each.local().close());
            }
        });
    }

    @Test
    void answerThatIsNotTaken() {
        rounds(() -> {
            MemoryRegion large = target.engine().allocate(LARGE, RegionOptions.readWrite());
            Claim claim = attached(large);
            lane.send(RawLane.read(claim.at(0, LARGE)));
            assertWatchdogBites(peer.in(target.engine()).ended());
            Patience.await(large.close());
        });
    }

    @Test
    void writeThatIsNotTaken() {
        rounds(() -> {
            OwedTransfer owed = OwedTransfer.write(target.engine(), peer, LARGE);
            assertThat(lane.receiveHeader()).isEqualTo(RawLane.WRITE);
            assertWatchdogBites(owed.connection().ended());
            Patience.failure(owed.end(), ConnectionLostException.class);
            Patience.await(owed.local().close());
        });
    }

    // ---- a region that closes meanwhile ----

    @Test
    void regionOfAnAnswerThatIsNotTakenCloses() {
        rounds(() -> {
            MemoryRegion large = target.engine().allocate(LARGE, RegionOptions.readWrite());
            Claim claim = attached(large);
            lane.send(RawLane.read(claim.at(0, LARGE)));
            assertThat(lane.receiveHeader()).isEqualTo(RawLane.READ_DATA);
            CompletableFuture<Void> closed = large.close();
            assertLost(peer.in(target.engine()).ended());
            Patience.await(closed);
        });
    }

    @Test
    void regionOfAWriteThatIsNotTakenCloses() {
        rounds(() -> {
            OwedTransfer owed = OwedTransfer.write(target.engine(), peer, LARGE);
            assertThat(lane.receiveHeader()).isEqualTo(RawLane.WRITE);
            CompletableFuture<Void> closed = owed.local().close();
            assertLost(owed.connection().ended());
            Patience.await(closed);
        });
    }

    @Test
    void regionOfHalfAnAnswerCloses() {
        rounds(() -> {
            OwedTransfer owed = OwedTransfer.read(target.engine(), peer, GuardedTarget.SLICE);
            assertThat(lane.receive().operation()).isEqualTo(RawLane.READ);
            lane.send(RawLane.readData(GuardedTarget.SLICE), new byte[1000]);
            CompletableFuture<Void> closed = owed.local().close();
            assertLost(owed.connection().ended());
            Patience.await(closed);
        });
    }

    // ---- a lane that moves, but never far enough ----

    /** Sends a little again and again until the connection ends. */
    private void dribble(byte[] piece) {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    lane.send(piece);
                    Patience.pause(BEAT);
                }
            } catch (UncheckedIOException ended) {
                // The engine has had enough.
            }
        });
    }

    @Test
    void regionClosesThoughItsAnswerIsNotTakenAndTheLaneMovesTheOtherWay() {
        rounds(() -> {
            MemoryRegion large = target.engine().allocate(LARGE, RegionOptions.readWrite());
            Claim claim = attached(large);
            Claim elsewhere = attached(target.region());
            lane.send(RawLane.read(claim.at(0, LARGE)));
            assertThat(lane.receiveHeader()).isEqualTo(RawLane.READ_DATA);
            dribble(RawLane.write(elsewhere.at(GuardedTarget.MARGIN, 1), new byte[1]));
            Patience.await(large.close());
            target.assertHonestIsServed();
        });
    }

    @Test
    void regionClosesThoughAnAnswerComesInByDrops() {
        rounds(() -> {
            OwedTransfer owed = OwedTransfer.read(target.engine(), peer, GuardedTarget.SLICE);
            assertThat(lane.receive().operation()).isEqualTo(RawLane.READ);
            lane.send(RawLane.readData(GuardedTarget.SLICE));
            dribble(new byte[] {1});
            Patience.until("the answer has begun", () -> owed.local().segment().get(ValueLayout.JAVA_BYTE, 0) == 1);
            Patience.await(owed.local().close());
            target.assertHonestIsServed();
        });
    }

    @Test
    void regionClosesThoughAWriteOfAStrangerComesInByDrops() {
        rounds(() -> {
            Claim claim = attached(target.region());
            lane.send(RawLane.header(RawLane.WRITE, 0, claim.at(GuardedTarget.MARGIN, GuardedTarget.SLICE)));
            byte news = (byte) ~target.slice(0, 1)[0];
            dribble(new byte[] {news});
            Patience.until("the write has begun", () -> target.slice(0, 1)[0] == news);
            Patience.await(target.region().close());
            target.assertHonestIsServed();
        });
    }
}
