package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import io.sluice.engine.transport.tcp.RawLane.Frame;
import io.sluice.testkit.Patience;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A peer that exceeds its rights gets a refusal and no bytes, and keeps its connection. */
@Tag("filler")
class RefusedFramesTest {
    private static final int PIECE = 64;
    private static final int SLICE = GuardedTarget.SLICE;

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

    /** The fault of a request. */
    private enum Wrong {
        KEY(CompletionStatus.BAD_KEY, claim -> claim.key(claim.key() ^ 1)),
        KEY_OF_ZERO(CompletionStatus.BAD_KEY, claim -> claim.key(0)),
        EPOCH(CompletionStatus.STALE_EPOCH, claim -> claim.epoch(claim.epoch() + 1)),
        EPOCH_AND_KEY(
                CompletionStatus.STALE_EPOCH,
                claim -> claim.epoch(claim.epoch() - 1).key(0)),
        ONE_BYTE_BEHIND_THE_END(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(SLICE - PIECE + 1, PIECE)),
        BEGINS_AT_THE_END(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(SLICE, PIECE)),
        BEGINS_IN_THE_MARGIN_BEHIND(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(SLICE + 8, PIECE)),
        BEGINS_IN_THE_MARGIN_BEFORE(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(-8, PIECE)),
        NEGATIVE_OFFSET(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(-1, PIECE)),
        LEAST_OFFSET(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(Long.MIN_VALUE, PIECE)),
        GREATEST_OFFSET(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(Long.MAX_VALUE, PIECE)),
        END_OVERFLOWS(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(Long.MAX_VALUE - PIECE + 1, PIECE)),
        OFFSET_OF_FOUR_GIGABYTES(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(1L << 32, PIECE)),
        OFFSET_OF_AN_ADDRESS(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(0x7f00_0000_0000L, PIECE)),
        HANDLE_NEVER_GIVEN(CompletionStatus.UNKNOWN_REGION, claim -> claim.handle(claim.handle() + 1)),
        HANDLE_OF_ANOTHER_GENERATION(
                CompletionStatus.UNKNOWN_REGION, claim -> claim.handle(claim.handle() + (1L << 32))),
        NEGATIVE_HANDLE(CompletionStatus.UNKNOWN_REGION, claim -> claim.handle(-1)),
        LEAST_HANDLE(CompletionStatus.UNKNOWN_REGION, claim -> claim.handle(Long.MIN_VALUE)),
        GREATEST_INDEX(CompletionStatus.UNKNOWN_REGION, claim -> claim.handle(Integer.MAX_VALUE));

        private final CompletionStatus status;
        private final UnaryOperator<Claim> mistake;

        Wrong(CompletionStatus status, UnaryOperator<Claim> mistake) {
            this.status = status;
            this.mistake = mistake;
        }
    }

    @ParameterizedTest
    @EnumSource
    void writeIsRefused(Wrong wrong) {
        byte[] news = new byte[PIECE];
        // One honest write before and one after it, so that the answer must name the right one.
        lane.send(
                RawLane.write(right.at(0, PIECE), news),
                RawLane.write(wrong.mistake.apply(right.at(PIECE, PIECE)), news),
                RawLane.write(right.at(2 * PIECE, PIECE), news));
        awaitAnswers(wrong.status, 2, 3);
        target.assertRefused(1);
        assertThat(target.slice(0, PIECE)).isEqualTo(news);
        assertThat(target.slice(PIECE, PIECE)).isEqualTo(GuardedTarget.old(PIECE, PIECE));
        assertThat(target.slice(2 * PIECE, PIECE)).isEqualTo(news);
        assertThat(target.slice(3 * PIECE, SLICE - 3 * PIECE))
                .isEqualTo(GuardedTarget.old(3 * PIECE, SLICE - 3 * PIECE));
        assertOthersAreUnharmed();
    }

    @ParameterizedTest
    @EnumSource
    void readIsRefused(Wrong wrong) {
        lane.send(
                RawLane.read(right.at(0, PIECE)),
                RawLane.read(wrong.mistake.apply(right.at(PIECE, PIECE))),
                RawLane.read(right.at(2 * PIECE, PIECE)));
        assertRead(0, PIECE);
        assertReadRefused(wrong.status);
        assertRead(2 * PIECE, PIECE);
        target.assertRefused(1);
        target.assertRegionUnchanged();
        assertOthersAreUnharmed();
    }

    @ParameterizedTest
    @EnumSource
    void refusedWriteOfManyBytesIsDroppedAsAWhole(Wrong wrong) {
        // Long enough to be received past the staging memory, if it were received at all.
        int bytes = 1 << 20;
        Claim claim = wrong.mistake.apply(right.at(0, PIECE));
        lane.send(RawLane.write(claim.at(claim.offset(), bytes), new byte[bytes]));
        assertWriteRefused(lane, wrong.status, 1);
        target.assertRegionUnchanged();
        assertOthersAreUnharmed();
    }

    @Test
    void readOfMoreThanTheSlice() {
        lane.send(
                RawLane.read(right.at(0, SLICE + 1)),
                RawLane.read(right.at(0, Long.MAX_VALUE)),
                RawLane.read(right.at(SLICE, Long.MAX_VALUE)),
                RawLane.read(right.at(1, Long.MAX_VALUE)),
                RawLane.read(right.at(-1, SLICE)));
        for (int i = 0; i < 5; i++) {
            assertReadRefused(CompletionStatus.OUT_OF_BOUNDS);
        }
        target.assertRefused(5);
        assertOthersAreUnharmed();
    }

    @Test
    void edgesOfTheSliceAreWithinIt() {
        byte[] news = {1, 2, 3};
        lane.send(
                RawLane.write(right.at(0, 3), news),
                RawLane.write(right.at(SLICE - 3, 3), news),
                RawLane.write(right.at(SLICE, 0), new byte[0]),
                RawLane.read(right.at(SLICE, 0)),
                RawLane.read(right.at(SLICE - 3, 3)));
        Frame last = lane.receive();
        while (last.operation() == RawLane.ACK) {
            last = lane.receive();
        }
        assertThat(last.operation()).isEqualTo(RawLane.READ_DATA);
        assertThat(last.payload()).isEmpty();
        Frame next = lane.receive();
        while (next.operation() == RawLane.ACK) {
            next = lane.receive();
        }
        assertThat(next.payload()).isEqualTo(news);
        target.assertRefused(0);
        target.assertMarginsUnchanged();
    }

    @Test
    void writeWithoutTheRight() {
        Claim readOnly = attached(Access.REMOTE_READ);
        lane.send(RawLane.write(readOnly.at(0, PIECE), new byte[PIECE]), RawLane.read(readOnly.at(0, PIECE)));
        assertWriteRefused(lane, CompletionStatus.ACCESS_DENIED, 1);
        assertRead(0, PIECE);
        target.assertRegionUnchanged();
        assertOthersAreUnharmed();
    }

    @Test
    void readWithoutTheRight() {
        Claim writeOnly = attached(Access.REMOTE_WRITE);
        lane.send(RawLane.read(writeOnly.at(0, PIECE)), RawLane.write(writeOnly.at(0, 1), new byte[] {7}));
        assertReadRefused(CompletionStatus.ACCESS_DENIED);
        assertThat(lane.receive().operation()).isEqualTo(RawLane.ACK);
        assertThat(target.slice(0, 1)).containsExactly(7);
        assertOthersAreUnharmed();
    }

    private Claim attached(Access access) {
        RegionDescriptor narrow =
                target.region().slice(GuardedTarget.MARGIN, SLICE).descriptor(Set.of(access));
        return GuardedTarget.claim(peer.attach(narrow), narrow);
    }

    @Test
    void keyOfOneSliceDoesNotOpenAnother() {
        RegionDescriptor other = target.region().slice(0, GuardedTarget.MARGIN).descriptor(Set.of(Access.REMOTE_READ));
        Claim narrow = GuardedTarget.claim(peer.attach(other), other);
        lane.send(RawLane.write(narrow.key(right.key()).at(0, PIECE), new byte[PIECE]));
        assertWriteRefused(lane, CompletionStatus.BAD_KEY, 1);
        target.assertRegionUnchanged();
    }

    @Test
    void handleIsWorthNothingOnAnotherConnection() {
        try (RawPeer thief = target.stranger()) {
            RawLane other = new RawLane(thief.lane(0));
            other.send(RawLane.write(right.at(0, PIECE), new byte[PIECE]), RawLane.read(right.at(0, PIECE)));
            assertWriteRefused(other, CompletionStatus.UNKNOWN_REGION, 1);
            assertReadRefused(other, CompletionStatus.UNKNOWN_REGION);
        }
        target.assertRegionUnchanged();
    }

    @Test
    void handleOfADetachedRegion() {
        peer.detach(right.handle());
        assertUnknown(right);
        // The next attachment in the place of the table is not reached by the old handle, nor with the old key.
        RegionDescriptor margin = target.region().slice(0, GuardedTarget.MARGIN).descriptor();
        long handle = peer.attach(margin);
        assertThat(handle).isNotEqualTo(right.handle());
        lane.send(RawLane.write(right.at(0, PIECE), new byte[PIECE]));
        assertWriteRefused(lane, CompletionStatus.UNKNOWN_REGION, 2);
        lane.send(RawLane.write(right.handle(handle).at(0, PIECE), new byte[PIECE]));
        assertWriteRefused(lane, CompletionStatus.BAD_KEY, 3);
        target.assertRegionUnchanged();
        target.assertHonestIsServed();
    }

    @Test
    void detachingTwiceOrAnUnknownHandleHarmsNoPeer() {
        RegionDescriptor margin = target.region().slice(0, GuardedTarget.MARGIN).descriptor();
        peer.detach(right.handle());
        Claim next = GuardedTarget.claim(peer.attach(margin), margin);
        peer.detach(right.handle());
        peer.detach(-1);
        peer.detach(Long.MIN_VALUE);
        peer.detach(12345);
        lane.send(RawLane.read(next.at(0, PIECE)));
        assertThat(lane.receive().operation()).isEqualTo(RawLane.READ_DATA);
    }

    @Test
    void regionThatIsClosed() {
        MemoryRegion closing = target.engine().allocate(SLICE, RegionOptions.readWrite());
        RegionDescriptor gone = closing.descriptor();
        Claim claim = GuardedTarget.claim(peer.attach(gone), gone);
        Patience.await(closing.close());
        assertUnknown(claim);
        assertThat(peer.in(target.engine()).state()).isEqualTo(ConnectionState.OPEN);
        target.assertRegionUnchanged();
        assertOthersAreUnharmed();
    }

    /** The whole payload of a write may be under way when its region closes; no byte of it lands later. */
    @Test
    void regionThatClosesInTheMiddleOfAWrite() {
        int bytes = 1 << 20;
        MemoryRegion closing = target.engine().allocate(bytes, RegionOptions.readWrite());
        RegionDescriptor gone = closing.descriptor();
        Claim claim = GuardedTarget.claim(peer.attach(gone), gone);
        byte[] half = new byte[bytes / 2];
        lane.send(RawLane.header(RawLane.WRITE, 0, claim.at(0, bytes)), half);
        Patience.await(closing.close());
        lane.send(half);
        assertWriteRefused(lane, CompletionStatus.UNKNOWN_REGION, 1);
        lane.send(RawLane.read(right.at(0, PIECE)));
        assertRead(0, PIECE);
        assertOthersAreUnharmed();
    }

    @Test
    void thousandsOfRefusalsAreAllAnswered() {
        int count = 20_000;
        byte[] bad = RawLane.read(right.key(0).at(0, PIECE));
        byte[] worse = RawLane.write(right.at(-1, PIECE), new byte[PIECE]);
        // Fewer than may wait at once, then their answers.
        int burst = 1000;
        for (int done = 0; done < count; done += burst) {
            for (int i = 0; i < burst / 2; i++) {
                lane.send(bad, worse);
            }
            for (int i = 0; i < burst; i++) {
                assertThat(lane.receive().status()).isPositive();
            }
        }
        target.assertRefused(count);
        target.assertRegionUnchanged();
        assertOthersAreUnharmed();
    }

    // ---- what the engine answers ----

    private static void assertWriteRefused(RawLane by, CompletionStatus status, long count) {
        Frame frame = by.receive();
        assertThat(frame.operation()).isEqualTo(RawLane.NACK);
        assertThat(frame.status()).isEqualTo(status.code());
        assertThat(frame.count()).isEqualTo(count);
    }

    /** Until the last write is reported: acknowledgements may be one or many, the refusal comes once and in its place. */
    private void awaitAnswers(CompletionStatus status, long refused, long last) {
        long reported = 0;
        boolean refusalSeen = false;
        while (reported < last) {
            Frame frame = lane.receive();
            assertThat(frame.count()).isGreaterThan(reported);
            if (frame.operation() == RawLane.NACK) {
                assertThat(frame.count()).isEqualTo(refused);
                assertThat(frame.status()).isEqualTo(status.code());
                assertThat(reported).as("those before it are reported first").isEqualTo(refused - 1);
                refusalSeen = true;
            } else {
                assertThat(frame.operation()).isEqualTo(RawLane.ACK);
                assertThat(refusalSeen || frame.count() < refused).isTrue();
            }
            reported = frame.count();
        }
        assertThat(refusalSeen).isTrue();
    }

    private void assertRead(int from, int count) {
        Frame frame = lane.receive();
        assertThat(frame.operation()).isEqualTo(RawLane.READ_DATA);
        assertThat(frame.payload()).isEqualTo(GuardedTarget.old(from, count));
    }

    private void assertReadRefused(CompletionStatus status) {
        assertReadRefused(lane, status);
    }

    private static void assertReadRefused(RawLane by, CompletionStatus status) {
        Frame frame = by.receive();
        assertThat(frame.operation()).isEqualTo(RawLane.READ_FAILED);
        assertThat(frame.status()).isEqualTo(status.code());
    }

    private void assertUnknown(Claim claim) {
        lane.send(RawLane.write(claim.at(0, PIECE), new byte[PIECE]), RawLane.read(claim.at(0, PIECE)));
        assertWriteRefused(lane, CompletionStatus.UNKNOWN_REGION, 1);
        assertReadRefused(CompletionStatus.UNKNOWN_REGION);
    }

    /** The margins are what they were, the peer's connection goes on, and so do all others. */
    private void assertOthersAreUnharmed() {
        target.assertMarginsUnchanged();
        Connection connection = peer.in(target.engine());
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
        target.assertHonestIsServed();
    }
}
