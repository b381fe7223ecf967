package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import io.sluice.engine.transport.tcp.RawLane.Frame;
import io.sluice.testkit.Patience;
import io.sluice.testkit.SteadyRounds;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer that breaks the rules of a lane loses its connection; other connections are unaffected. */
class LaneAbuseTest {
    private static final int PIECE = 64;

    private final GuardedTarget target = new GuardedTarget();
    private final RawPeer peer = target.stranger();
    private final RawLane lane = new RawLane(peer.lane(0));
    private final RegionDescriptor descriptor = target.slice();
    private final Claim right = GuardedTarget.claim(peer.attach(descriptor), descriptor);

    @AfterEach
    void close() {
        peer.close();
        target.close();
    }

    /** The damage to a header. */
    private enum Damage {
        MAGIC(header -> header.put(0, (byte) 0)),
        MAGIC_OF_THE_BOOTSTRAP(header -> header.putShort(0, (short) 0x534C).put(2, (byte) 1)),
        BYTE_ORDER(header -> header.putInt(0, Integer.reverseBytes(header.getInt(0)))),
        ZERO(header -> header.putShort(6, (short) 1)),
        NEGATIVE_LENGTH(header -> header.putLong(40, -1)),
        LEAST_LENGTH(header -> header.putLong(40, Long.MIN_VALUE)),
        OPERATION_OF_ZERO(header -> header.put(4, (byte) 0)),
        UNKNOWN_OPERATION(header -> header.put(4, (byte) 15)),
        UNKNOWN_OPERATION_WITH_OPERANDS(header -> header.put(4, (byte) 22)),
        NEGATIVE_OPERATION(header -> header.put(4, (byte) -1)),
        NOTHING_BUT_ZEROES(header -> header.put(0, new byte[RawLane.HEADER_BYTES]));

        private final Consumer<ByteBuffer> change;

        Damage(Consumer<ByteBuffer> change) {
            this.change = change;
        }
    }

    @ParameterizedTest
    @EnumSource
    void malformedHeader(Damage damage) {
        byte[] header = RawLane.header(RawLane.WRITE, 0, right.at(0, PIECE));
        damage.change.accept(ByteBuffer.wrap(header));
        lane.send(RawLane.write(right.at(PIECE, PIECE), new byte[PIECE]), header, new byte[PIECE]);
        target.assertEnded(peer);
        assertThat(target.slice(0, PIECE)).isEqualTo(GuardedTarget.old(0, PIECE));
        target.assertMarginsUnchanged();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 0, -1, 4096, Long.MAX_VALUE, Long.MIN_VALUE})
    void acknowledgementOfWritesNeverSent(long count) {
        lane.send(RawLane.count(RawLane.ACK, 0, count));
        target.assertEnded(peer);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 0, -1})
    void refusalOfWritesNeverSent(long count) {
        lane.send(RawLane.count(RawLane.NACK, 1, count));
        target.assertEnded(peer);
    }

    @Test
    void writeThatIsAcknowledgedTwice() {
        OwedTransfer owed = OwedTransfer.write(target.engine(), peer, PIECE);
        assertThat(lane.receive().operation()).isEqualTo(RawLane.WRITE);
        lane.send(RawLane.count(RawLane.ACK, 0, 1));
        Patience.await(owed.end());
        lane.send(RawLane.count(RawLane.ACK, 0, 1));
        target.assertEnded(peer);
    }

    /** The engine would call the rest of the write's memory free while it still sends from it. */
    @Test
    void writeThatIsAcknowledgedBeforeAllOfItHasLeft() {
        try (GuardedTarget narrow = new GuardedTarget(options -> options.socketBufferBytes(16 * 1024));
                RawPeer hasty = narrow.stranger()) {
            OwedTransfer owed = OwedTransfer.write(narrow.engine(), hasty, 512 * 1024);
            RawLane early = new RawLane(hasty.lane(0));
            assertThat(early.receiveHeader()).isEqualTo(RawLane.WRITE);
            early.send(RawLane.count(RawLane.ACK, 0, 1));
            ConnectionLostException error = Patience.failure(owed.end(), ConnectionLostException.class);
            assertThat(error).hasMessageContaining("acknowledges");
            Patience.await(owed.local().close());
            narrow.assertEnded(hasty);
        }
    }

    @Test
    void answerToAReadNeverAsked() {
        lane.send(RawLane.readData(PIECE), new byte[PIECE]);
        target.assertEnded(peer);
        target.assertRegionUnchanged();
    }

    @Test
    void refusalOfAReadNeverAsked() {
        lane.send(RawLane.count(RawLane.READ_FAILED, 1, 0));
        target.assertEnded(peer);
    }

    @Test
    void readThatIsAnsweredTwice() {
        OwedTransfer owed = OwedTransfer.read(target.engine(), peer, PIECE);
        assertThat(lane.receive().operation()).isEqualTo(RawLane.READ);
        lane.send(RawLane.readData(PIECE), new byte[PIECE]);
        Patience.await(owed.end());
        lane.send(RawLane.readData(PIECE), new byte[PIECE]);
        target.assertEnded(peer);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, PIECE - 1, PIECE + 1, 1L << 20, Long.MAX_VALUE})
    void answerOfAnotherLengthThanAsked(long length) {
        OwedTransfer owed = OwedTransfer.read(target.engine(), peer, PIECE);
        assertThat(lane.receive().operation()).isEqualTo(RawLane.READ);
        lane.send(RawLane.readData(length), new byte[PIECE]);
        Patience.failure(owed.end(), ConnectionLostException.class);
        Patience.await(owed.local().close());
        target.assertEnded(peer);
    }

    @Test
    void refusalWithAStatusOfALaterVersionIsARefusalAllTheSame() {
        OwedTransfer owed = OwedTransfer.read(target.engine(), peer, PIECE);
        assertThat(lane.receive().operation()).isEqualTo(RawLane.READ);
        lane.send(RawLane.count(RawLane.READ_FAILED, 255, 0));
        Patience.failure(owed.end(), RemoteAccessException.class);
        OwedTransfer next = OwedTransfer.write(target.engine(), peer, PIECE);
        assertThat(lane.receive().operation()).isEqualTo(RawLane.WRITE);
        // Success is no refusal: a peer that says so in a refusal does not make the write a success.
        lane.send(RawLane.count(RawLane.NACK, 0, 1));
        Patience.failure(next.end(), RemoteAccessException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4096})
    void readsWithoutEndWhoseAnswersAreNotTaken(int bytes) {
        assertCutOff(claim -> repeated(RawLane.read(claim.at(0, bytes)), 256));
    }

    @Test
    void refusedRequestsWithoutEndWhoseAnswersAreNotTaken() {
        assertCutOff(claim -> repeated(
                RawLane.join(
                        RawLane.read(claim.key(0).at(0, 1)),
                        RawLane.write(claim.key(0).at(0, 1), new byte[1])),
                256));
    }

    private static byte[][] repeated(byte[] frame, int count) {
        byte[][] frames = new byte[count][];
        Arrays.fill(frames, frame);
        return frames;
    }

    /** A peer that sends these again and again, and reads nothing, is ended. */
    private static void assertCutOff(Function<Claim, byte[][]> frames) {
        SteadyRounds.run(GuardedTarget.LIVENESS, liveness -> {
            try (GuardedTarget biting = new GuardedTarget(options -> options.livenessTimeout(liveness));
                    RawPeer greedy = biting.stranger()) {
                RegionDescriptor slice = biting.slice();
                byte[] requests = RawLane.join(frames.apply(GuardedTarget.claim(greedy.attach(slice), slice)));
                RawLane asking = new RawLane(greedy.lane(0));
                long before = usedHeap();
                CompletableFuture<Long> sent = CompletableFuture.supplyAsync(() -> {
                    for (long bytes = 0; bytes < 1L << 30; bytes += requests.length) {
                        try {
                            asking.send(requests);
                        } catch (UncheckedIOException cutOff) {
                            return bytes;
                        }
                    }
                    throw new AssertionError("the engine takes requests without end");
                });
                Patience.await(sent);
                assertThat(usedHeap() - before).as("growth of the heap").isLessThan(32 << 20);
                biting.assertEnded(greedy);
                biting.assertRegionUnchanged();
                Patience.await(biting.region().close());
            }
        });
    }

    private static long usedHeap() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    @Test
    void writesWithoutEndWhoseAcknowledgementsAreNotTakenCostNoMemory() {
        byte[] writes = RawLane.join(repeated(RawLane.write(right.at(0, 1), new byte[1]), 1024));
        long before = usedHeap();
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < 500; i++) {
                lane.send(writes);
            }
        });
        Patience.await(sent);
        assertThat(usedHeap() - before).as("growth of the heap").isLessThan(32 << 20);
        Frame last = lane.receive();
        while (last.count() < 500 * 1024) {
            last = lane.receive();
        }
        target.assertHonestIsServed();
    }
}
