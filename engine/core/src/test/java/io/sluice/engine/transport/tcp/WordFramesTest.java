package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import io.sluice.engine.transport.tcp.RawLane.Frame;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Puts, signals and atomic operations of a peer that asks for what it was not given, or breaks the rules of a lane. */
@Tag("filler")
class WordFramesTest {
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
        EPOCH(CompletionStatus.STALE_EPOCH, claim -> claim.epoch(claim.epoch() + 1)),
        HANDLE(CompletionStatus.UNKNOWN_REGION, claim -> claim.handle(claim.handle() + 1)),
        BEHIND_THE_END(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(SLICE, 8)),
        ACROSS_THE_END(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(SLICE - 7, 8)),
        NEGATIVE_OFFSET(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(-8, 8)),
        END_OVERFLOWS(CompletionStatus.OUT_OF_BOUNDS, claim -> claim.at(Long.MAX_VALUE - 7, 8));

        private final CompletionStatus status;
        private final UnaryOperator<Claim> mistake;

        Wrong(CompletionStatus status, UnaryOperator<Claim> mistake) {
            this.status = status;
            this.mistake = mistake;
        }
    }

    @ParameterizedTest
    @EnumSource
    void putAndSignalAreRefused(Wrong wrong) {
        Claim claim = wrong.mistake.apply(right.at(0, 8));
        lane.send(RawLane.word(RawLane.PUT, claim, -1, 0), RawLane.word(RawLane.SIGNAL, claim, 1, 0));
        assertNotAcknowledged(wrong.status, 1);
        assertNotAcknowledged(wrong.status, 2);
        target.assertRefused(2);
        target.assertRegionUnchanged();
        target.assertHonestIsServed();
    }

    @ParameterizedTest
    @EnumSource
    void atomicOperationsAreRefused(Wrong wrong) {
        Claim claim = wrong.mistake.apply(right.at(0, 8));
        lane.send(
                RawLane.word(RawLane.FETCH_ADD, claim, 1, 0),
                RawLane.word(RawLane.COMPARE_AND_SWAP, claim, 1, word(0)));
        assertAtomicRefused(wrong.status);
        assertAtomicRefused(wrong.status);
        target.assertRefused(2);
        target.assertRegionUnchanged();
        target.assertHonestIsServed();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7})
    void wordThatIsNotAligned(int offset) {
        lane.send(
                RawLane.word(RawLane.SIGNAL, right.at(offset, 8), 1, 0),
                RawLane.word(RawLane.FETCH_ADD, right.at(offset, 8), 1, 0));
        assertNotAcknowledged(CompletionStatus.MISALIGNED, 1);
        assertAtomicRefused(CompletionStatus.MISALIGNED);
        target.assertRegionUnchanged();
    }

    /** The offset of a slice does not move the region's words. */
    @Test
    void wordsOfAPartThatBeginsWithinAWord() {
        MemoryRegion region = target.region();
        RegionDescriptor part = region.slice(GuardedTarget.MARGIN + 4, 64).descriptor();
        Claim claim = GuardedTarget.claim(peer.attach(part), part);
        long before = region.signal(GuardedTarget.MARGIN + 8).value();
        lane.send(RawLane.word(RawLane.SIGNAL, claim.at(8, 8), 1, 0));
        assertNotAcknowledged(CompletionStatus.MISALIGNED, 1);
        target.assertRegionUnchanged();
        lane.send(RawLane.word(RawLane.SIGNAL, claim.at(4, 8), 1, 0));
        assertAcknowledged(2);
        assertThat(region.signal(GuardedTarget.MARGIN + 8).value()).isEqualTo(before + 1);
    }

    @Test
    void wordsOfANetworkAdapterAreNotChangedByMessage() {
        MemoryRegion words =
                target.engine().allocate(64, RegionOptions.readWrite().atomics(AtomicDomain.NETWORK_ADAPTER));
        RegionDescriptor of = words.descriptor();
        Claim claim = GuardedTarget.claim(peer.attach(of), of).at(0, 8);
        lane.send(RawLane.word(RawLane.SIGNAL, claim, 1, 0), RawLane.word(RawLane.FETCH_ADD, claim, 1, 0));
        assertNotAcknowledged(CompletionStatus.ATOMIC_DOMAIN, 1);
        assertAtomicRefused(CompletionStatus.ATOMIC_DOMAIN);
        assertThat(words.signal(0).value()).isZero();
        // bytes are bytes in any domain
        lane.send(RawLane.word(RawLane.PUT, claim, 7, 0));
        assertAcknowledged(2);
        assertThat(words.signal(0).value()).isEqualTo(7);
    }

    @Test
    void readOnlyRegionIsNotChanged() {
        MemoryRegion readable = target.engine().allocate(64, RegionOptions.readOnly());
        RegionDescriptor of = readable.descriptor();
        Claim claim = GuardedTarget.claim(peer.attach(of), of).at(0, 8);
        lane.send(
                RawLane.word(RawLane.PUT, claim, 1, 0),
                RawLane.word(RawLane.SIGNAL, claim, 1, 0),
                RawLane.word(RawLane.FETCH_ADD, claim, 1, 0),
                RawLane.word(RawLane.COMPARE_AND_SWAP, claim, 1, 0));
        assertNotAcknowledged(CompletionStatus.ACCESS_DENIED, 1);
        assertNotAcknowledged(CompletionStatus.ACCESS_DENIED, 2);
        assertAtomicRefused(CompletionStatus.ACCESS_DENIED);
        assertAtomicRefused(CompletionStatus.ACCESS_DENIED);
        assertThat(readable.signal(0).value()).isZero();
    }

    @Test
    void signalOfAWriteThatIsRefusedIsLeftAlone() {
        long before = word(8);
        lane.send(
                RawLane.writeBeforeSignal(right.at(SLICE, 4), new byte[4]),
                RawLane.word(RawLane.SIGNAL_OF_WRITE, right.at(8, 8), 1, 0));
        assertNotAcknowledged(CompletionStatus.OUT_OF_BOUNDS, 1);
        assertThat(word(8)).isEqualTo(before);
        target.assertRegionUnchanged();
    }

    @Test
    void writeAndItsSignalAreAcknowledgedAsOne() {
        long before = word(8);
        lane.send(RawLane.writeBeforeSignal(right.at(0, 4), new byte[] {1, 2, 3, 4}));
        lane.send(RawLane.word(RawLane.SIGNAL_OF_WRITE, right.at(8, 8), 5, 0));
        assertAcknowledged(1);
        assertThat(target.slice(0, 4)).isEqualTo(new byte[] {1, 2, 3, 4});
        assertThat(word(8)).isEqualTo(before + 5);
    }

    @Test
    void writeWhoseSignalDoesNotFollow() {
        lane.send(
                RawLane.writeBeforeSignal(right.at(0, 4), new byte[4]),
                RawLane.word(RawLane.PUT, right.at(8, 8), 1, 0));
        target.assertEnded(peer);
        assertThat(target.slice(8, 8)).isEqualTo(GuardedTarget.old(8, 8));
    }

    @Test
    void signalOfNoWrite() {
        lane.send(RawLane.word(RawLane.SIGNAL_OF_WRITE, right.at(8, 8), 1, 0));
        target.assertEnded(peer);
        target.assertRegionUnchanged();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 9, Long.MAX_VALUE, -1, Long.MIN_VALUE})
    void putOfNoOrTooManyBytes(long bytes) {
        lane.send(RawLane.word(RawLane.PUT, right.at(0, bytes), 1, 0));
        target.assertEnded(peer);
        target.assertRegionUnchanged();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 4, 7, 9})
    void atomicOperationOnLessOrMoreThanAWord(long bytes) {
        lane.send(RawLane.word(RawLane.FETCH_ADD, right.at(0, bytes), 1, 0));
        target.assertEnded(peer);
        target.assertRegionUnchanged();
    }

    @Test
    void unexpectedAnswer() {
        lane.send(RawLane.word(RawLane.FETCHED, right.at(0, 8), 1, 0));
        target.assertEnded(peer);
    }

    @Test
    void readThatIsAnsweredWithAWord() {
        OwedTransfer owed = OwedTransfer.read(target.engine(), peer, 8);
        assertThat(lane.receive().operation()).isEqualTo(RawLane.READ);
        lane.send(RawLane.word(RawLane.FETCHED, right.at(0, 8), 1, 0));
        target.assertEnded(peer);
        assertThat(owed.end()).isCompletedExceptionally();
    }

    /** The header comes in two pieces, wherever it is cut. */
    @Test
    void headersThatComeInPieces() {
        long before = word(0);
        byte[] frame = RawLane.word(RawLane.FETCH_ADD, right.at(0, 8), 1, 0);
        for (int cut = 1; cut < frame.length; cut++) {
            byte[] head = Arrays.copyOf(frame, cut);
            byte[] tail = Arrays.copyOfRange(frame, cut, frame.length);
            lane.send(head);
            Thread.yield();
            lane.send(tail);
            Frame answer = lane.receive();
            assertThat(answer.operation()).isEqualTo(RawLane.FETCHED);
            assertThat(answer.operand()).isEqualTo(before + cut - 1);
        }
    }

    private long word(int offset) {
        return target.region().segment().get(ValueLayout.JAVA_LONG_UNALIGNED, GuardedTarget.MARGIN + offset);
    }

    private void assertNotAcknowledged(CompletionStatus status, long count) {
        Frame answer = lane.receive();
        assertThat(answer.operation()).isEqualTo(RawLane.NACK);
        assertThat(answer.status()).isEqualTo(status.code());
        assertThat(answer.count()).isEqualTo(count);
    }

    private void assertAcknowledged(long count) {
        Frame answer = lane.receive();
        assertThat(answer.operation()).isEqualTo(RawLane.ACK);
        assertThat(answer.count()).isEqualTo(count);
    }

    private void assertAtomicRefused(CompletionStatus status) {
        Frame answer = lane.receive();
        assertThat(answer.operation()).isEqualTo(RawLane.READ_FAILED);
        assertThat(answer.status()).isEqualTo(status.code());
    }
}
