package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import io.sluice.engine.transport.tcp.RawLane.Frame;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames of pages of a peer that asks for what it was not given, or breaks the rules of a lane; and of one that knows no such frames. */
class PageFramesTest {
    private static final int SLICE = GuardedTarget.SLICE;
    private static final int PAGE = 100;
    private static final byte PAGES_FLAG = 1 << 3;

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

    @Test
    void pagesLandWhereTheTableSaysAndComeBackInItsOrder() {
        lane.send(RawLane.writePages(right, PAGE, SLICE - PAGE, 0, 333));
        assertAcknowledged(1);
        byte[] zeros = new byte[PAGE];
        assertThat(target.slice(SLICE - PAGE, PAGE)).isEqualTo(zeros);
        assertThat(target.slice(0, PAGE)).isEqualTo(zeros);
        assertThat(target.slice(333, PAGE)).isEqualTo(zeros);
        assertThat(target.slice(PAGE, 333 - PAGE)).isEqualTo(GuardedTarget.old(PAGE, 333 - PAGE));
        target.assertMarginsUnchanged();
        lane.send(RawLane.readPages(right, PAGE, 7000, 350));
        Frame answer = lane.receive();
        assertThat(answer.operation()).isEqualTo(RawLane.READ_DATA);
        assertThat(Arrays.copyOf(answer.payload(), PAGE)).isEqualTo(GuardedTarget.old(7000, PAGE));
        assertThat(Arrays.copyOfRange(answer.payload(), PAGE, PAGE + 83)).isEqualTo(new byte[83]);
        assertThat(Arrays.copyOfRange(answer.payload(), PAGE + 83, 2 * PAGE)).isEqualTo(GuardedTarget.old(433, 17));
        target.assertHonestIsServed();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, SLICE - PAGE + 1, SLICE, Long.MAX_VALUE, Long.MIN_VALUE, -PAGE})
    void onePageOutsideAndNoByteOfAnyLands(long outside) {
        for (int bad = 0; bad < 3; bad++) {
            long[] offsets = {0, 5000, 9000};
            offsets[bad] = outside;
            lane.send(RawLane.writePages(right, PAGE, offsets));
            assertNotAcknowledged(CompletionStatus.OUT_OF_BOUNDS, bad + 1);
            lane.send(RawLane.readPages(right, PAGE, offsets));
            assertRefused(CompletionStatus.OUT_OF_BOUNDS);
        }
        target.assertRefused(6);
        target.assertRegionUnchanged();
        target.assertHonestIsServed();
    }

    @Test
    void wrongKeyEpochOrHandle() {
        Claim key = right.key(right.key() ^ 1);
        Claim epoch = right.epoch(right.epoch() + 1);
        Claim handle = right.handle(right.handle() + 1);
        lane.send(RawLane.writePages(key, PAGE, 0, 200));
        assertNotAcknowledged(CompletionStatus.BAD_KEY, 1);
        lane.send(RawLane.writePages(epoch, PAGE, 0, 200));
        assertNotAcknowledged(CompletionStatus.STALE_EPOCH, 2);
        lane.send(RawLane.writePages(handle, PAGE, 0, 200));
        assertNotAcknowledged(CompletionStatus.UNKNOWN_REGION, 3);
        lane.send(RawLane.readPages(key, PAGE, 0, 200));
        assertRefused(CompletionStatus.BAD_KEY);
        lane.send(RawLane.readPages(epoch, PAGE, 0, 200));
        assertRefused(CompletionStatus.STALE_EPOCH);
        lane.send(RawLane.readPages(handle, PAGE, 0, 200));
        assertRefused(CompletionStatus.UNKNOWN_REGION);
        target.assertRegionUnchanged();
        target.assertHonestIsServed();
    }

    @Test
    void readOnlyRegionIsNotChanged() {
        MemoryRegion readable = target.engine().allocate(4096, RegionOptions.readOnly());
        readable.segment().fill((byte) 3);
        RegionDescriptor of = readable.descriptor();
        Claim claim = GuardedTarget.claim(peer.attach(of), of);
        lane.send(RawLane.writePages(claim, PAGE, 0, 1000));
        assertNotAcknowledged(CompletionStatus.ACCESS_DENIED, 1);
        byte[] threes = new byte[4096];
        Arrays.fill(threes, (byte) 3);
        assertThat(readable.segment().asByteBuffer()).isEqualTo(ByteBuffer.wrap(threes));
    }

    @ParameterizedTest
    @CsvSource({
        "8, 100, 0", "8, 100, 107", "8, 100, 109", "8, 0, 64", "8, -1, 70", "8, -8, 8", "8, 9223372036854775807, 16",
        "9, 100, 0", "9, 100, 7", "9, 100, 8200", "9, 0, 16", "9, -1, 16", "8, 1, 9225", "9, 9223372036854775807, 16"
    })
    void framesThatAreNoneOfPages(int operation, long pageBytes, long length) {
        lane.send(RawLane.header(operation, 0, right.at(pageBytes, length)));
        target.assertEnded(peer);
        target.assertRegionUnchanged();
    }

    /** Wherever header and table are cut. */
    @Test
    void framesThatComeInPieces() {
        byte[] frame = RawLane.writePages(right, 3, 0, 10, 20);
        for (int cut = 1; cut < frame.length; cut++) {
            lane.send(Arrays.copyOf(frame, cut));
            Thread.yield();
            lane.send(Arrays.copyOfRange(frame, cut, frame.length));
            assertAcknowledged(cut);
        }
        assertThat(target.slice(0, 3)).isEqualTo(new byte[3]);
        assertThat(target.slice(3, 7)).isEqualTo(GuardedTarget.old(3, 7));
        assertThat(target.slice(20, 3)).isEqualTo(new byte[3]);
        target.assertMarginsUnchanged();
    }

    /** The offer of an older peer has no flag for frames of pages. */
    @Test
    void olderPeerGetsPlainWrites() {
        OwedTransfer owed =
                OwedTransfer.writePages(target.engine(), peer, PAGE, new int[] {0, 1, 2}, new int[] {5, 6, 2});
        Frame first = lane.receive();
        assertThat(first.operation()).isEqualTo(RawLane.WRITE);
        assertThat(first.payload()).hasSize(2 * PAGE);
        Frame second = lane.receive();
        assertThat(second.operation()).isEqualTo(RawLane.WRITE);
        assertThat(second.payload()).hasSize(PAGE);
        lane.send(RawLane.count(RawLane.ACK, 0, 2));
        owed.awaitSuccess();
    }

    @Test
    void peerThatKnowsThemGetsOneFrame() {
        byte[] offer = ByteBuffer.allocate(15)
                .put((byte) 1)
                .put((byte) 1)
                .putInt(4096)
                .put(PAGES_FLAG)
                .putLong(Long.MAX_VALUE)
                .array();
        try (RawPeer later = new RawPeer(target.engine().address()).offer(offer)) {
            later.connect();
            RawLane pages = new RawLane(later.lane(0));
            OwedTransfer owed =
                    OwedTransfer.writePages(target.engine(), later, PAGE, new int[] {0, 1, 2}, new int[] {5, 6, 2});
            assertThat(pages.receiveHeader()).isEqualTo((byte) RawLane.WRITE_PAGES);
            pages.send(RawLane.count(RawLane.ACK, 0, 1));
            owed.awaitSuccess();
        }
    }

    private void assertAcknowledged(long count) {
        Frame answer = lane.receive();
        assertThat(answer.operation()).isEqualTo(RawLane.ACK);
        assertThat(answer.count()).isEqualTo(count);
    }

    private void assertNotAcknowledged(CompletionStatus status, long count) {
        Frame answer = lane.receive();
        assertThat(answer.operation()).isEqualTo(RawLane.NACK);
        assertThat(answer.status()).isEqualTo(status.code());
        assertThat(answer.count()).isEqualTo(count);
    }

    private void assertRefused(CompletionStatus status) {
        Frame answer = lane.receive();
        assertThat(answer.operation()).isEqualTo(RawLane.READ_FAILED);
        assertThat(answer.status()).isEqualTo(status.code());
    }
}
