package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineSums;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.Patience;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.session.RawPeer;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A peer that lives on its control channel and lets a lane starve: the lane's watchdog ends the connection, and no region
 * stays open for its sake.
 */
class LaneSilenceTest {
    private static final Duration BEAT = Duration.ofMillis(100);
    // Much more than the liveness time-out, much less than for ever.
    private static final Duration FORCED = GuardedTarget.LIVENESS.multipliedBy(6);
    private static final int LARGE = 16 << 20;

    private final GuardedTarget target = new GuardedTarget(options -> options.socketBufferBytes(32 * 1024));
    private final RawPeer peer = target.stranger().beatEvery(BEAT);
    private final RawLane lane = new RawLane(peer.lane(0));

    @AfterEach
    void close() {
        peer.close();
        target.close();
    }

    private Claim attached(MemoryRegion region) {
        RegionDescriptor descriptor = region.descriptor();
        return GuardedTarget.claim(peer.attach(descriptor), descriptor);
    }

    private void assertWatchdogBites(CompletionStage<Void> ended) {
        assertThat(assertLostInTime(ended)).hasMessageContaining("lane 0 made no progress");
    }

    private ConnectionLostException assertLostInTime(CompletionStage<Void> ended) {
        ConnectionLostException error = Patience.failure(ended, ConnectionLostException.class, FORCED);
        target.assertEnded(peer);
        assertThat(EngineSums.ofTransports(target.engine(), TransportMetrics::connectionsLost))
                .isEqualTo(1);
        return error;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 20, RawLane.HEADER_BYTES, RawLane.HEADER_BYTES + 1, RawLane.HEADER_BYTES + 30_000})
    void halfAWriteThenNothing(int bytes) {
        Claim claim = attached(target.region());
        byte[] frame =
                RawLane.write(claim.at(GuardedTarget.MARGIN, GuardedTarget.SLICE), new byte[GuardedTarget.SLICE]);
        lane.send(Arrays.copyOf(frame, bytes));
        assertWatchdogBites(peer.in(target.engine()).ended());
        Patience.get(target.region().close());
    }

    @Test
    void regionClosesAtOnceThoughHalfAWriteIsUnderWay() {
        Claim claim = attached(target.region());
        lane.send(
                RawLane.header(RawLane.WRITE, 0, claim.at(GuardedTarget.MARGIN, GuardedTarget.SLICE)), new byte[1000]);
        Patience.until("the half is in place", () -> target.slice(999, 1)[0] == 0);
        Patience.get(target.region().close(), GuardedTarget.LIVENESS.dividedBy(2));
        target.assertHonestIsServed();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1000})
    void halfAnAnswerThenNothing(int bytes) {
        OwedTransfer owed = OwedTransfer.read(target.engine(), peer, GuardedTarget.SLICE);
        assertThat(lane.receive().operation()).isEqualTo(RawLane.READ);
        if (bytes > 0) {
            lane.send(RawLane.readData(GuardedTarget.SLICE), new byte[bytes]);
        }
        assertWatchdogBites(owed.connection().ended());
        Patience.failure(owed.end(), ConnectionLostException.class);
        Patience.get(owed.local().close());
    }

    @Test
    void answerThatIsNotTaken() {
        MemoryRegion large = target.engine().allocate(LARGE, RegionOptions.readWrite());
        Claim claim = attached(large);
        lane.send(RawLane.read(claim.at(0, LARGE)));
        assertWatchdogBites(peer.in(target.engine()).ended());
        Patience.get(large.close());
    }

    @Test
    void writeThatIsNotTaken() {
        OwedTransfer owed = OwedTransfer.write(target.engine(), peer, LARGE);
        assertThat(lane.receiveHeader()).isEqualTo(RawLane.WRITE);
        assertWatchdogBites(owed.connection().ended());
        Patience.failure(owed.end(), ConnectionLostException.class);
        Patience.get(owed.local().close());
    }

    // ---- a region that closes meanwhile ----

    @Test
    void regionOfAnAnswerThatIsNotTakenCloses() {
        MemoryRegion large = target.engine().allocate(LARGE, RegionOptions.readWrite());
        Claim claim = attached(large);
        lane.send(RawLane.read(claim.at(0, LARGE)));
        assertThat(lane.receiveHeader()).isEqualTo(RawLane.READ_DATA);
        CompletableFuture<Void> closed = large.close();
        assertLostInTime(peer.in(target.engine()).ended());
        Patience.get(closed);
    }

    @Test
    void regionOfAWriteThatIsNotTakenCloses() {
        OwedTransfer owed = OwedTransfer.write(target.engine(), peer, LARGE);
        assertThat(lane.receiveHeader()).isEqualTo(RawLane.WRITE);
        CompletableFuture<Void> closed = owed.local().close();
        assertLostInTime(owed.connection().ended());
        Patience.get(closed);
    }

    @Test
    void regionOfHalfAnAnswerCloses() {
        OwedTransfer owed = OwedTransfer.read(target.engine(), peer, GuardedTarget.SLICE);
        assertThat(lane.receive().operation()).isEqualTo(RawLane.READ);
        lane.send(RawLane.readData(GuardedTarget.SLICE), new byte[1000]);
        CompletableFuture<Void> closed = owed.local().close();
        assertLostInTime(owed.connection().ended());
        Patience.get(closed);
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
        MemoryRegion large = target.engine().allocate(LARGE, RegionOptions.readWrite());
        Claim claim = attached(large);
        Claim elsewhere = attached(target.region());
        lane.send(RawLane.read(claim.at(0, LARGE)));
        dribble(RawLane.write(elsewhere.at(GuardedTarget.MARGIN, 1), new byte[1]));
        Patience.pause(BEAT);
        Patience.get(large.close(), FORCED);
        target.assertHonestIsServed();
    }

    @Test
    void regionClosesThoughAnAnswerComesInByDrops() {
        OwedTransfer owed = OwedTransfer.read(target.engine(), peer, GuardedTarget.SLICE);
        assertThat(lane.receive().operation()).isEqualTo(RawLane.READ);
        lane.send(RawLane.readData(GuardedTarget.SLICE));
        dribble(new byte[1]);
        Patience.pause(BEAT);
        Patience.get(owed.local().close(), FORCED);
        target.assertHonestIsServed();
    }

    @Test
    void regionClosesThoughAWriteOfAStrangerComesInByDrops() {
        Claim claim = attached(target.region());
        lane.send(RawLane.header(RawLane.WRITE, 0, claim.at(GuardedTarget.MARGIN, GuardedTarget.SLICE)));
        dribble(new byte[1]);
        Patience.pause(BEAT);
        Patience.get(target.region().close(), FORCED);
        target.assertHonestIsServed();
    }
}
