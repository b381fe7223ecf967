package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.Filling;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutboundFramesTest {
    private static final int MEMORY = 4096;

    private final MemorySegment memory = Arena.ofAuto().allocate(MEMORY);
    private final LoopScratch scratch = new LoopScratch();
    private final OutboundFrames frames = new OutboundFrames(null, true, NoDevices.sends());
    private final ByteArrayOutputStream wire = new ByteArrayOutputStream();
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();

    OutboundFramesTest() {
        Filling.fill(memory, 1);
    }

    /** Counts its leases. */
    private final class Lender implements ExportedRegion {
        private int releases;
        private boolean open = true;

        @Override
        public @Nullable RegisteredMemory registration() {
            return null;
        }

        @Override
        public void changed(long offset) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStatus acquire(WorkRequest.Opcode operation, long key, long epoch, long offset, long length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean lease() {
            return true;
        }

        @Override
        public Set<Access> access() {
            return EnumSet.allOf(Access.class);
        }

        @Override
        public AtomicDomain atomicDomain() {
            return AtomicDomain.TARGET_CPU;
        }

        @Override
        public void release() {
            releases++;
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public RegionMemory memory() {
            return RegionMemory.host(memory);
        }

        @Override
        public long fetchAdd(long offset, long addend) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long compareAndSwap(long offset, long before, long after) {
            throw new UnsupportedOperationException();
        }
    }

    private void add(int operation, long handle, int from, int count, @Nullable ExportedRegion lease) {
        frames.add(operation, 0, handle, 2, 3, 4, count, memory.address() + from, count);
        frames.payloadIn(RegionMemory.host(memory), null, from);
        if (lease != null) {
            frames.lease(lease);
        }
    }

    private void expect(int operation, long handle, int from, int count) {
        expected.writeBytes(RawLane.header(operation, 0, new Claim(handle, 2, 3, 4, count)));
        expected.writeBytes(Filling.bytes(1, from, count));
    }

    private long send(long room) {
        return take(frames, room, wire);
    }

    /** Acts as the kernel: takes as many of the described bytes as it has room for. */
    long take(OutboundFrames from, long room, ByteArrayOutputStream to) {
        int entries = from.fill(scratch);
        assertThat(entries).isBetween(1, LoopScratch.VECTOR_ENTRIES);
        MemorySegment vector = MemorySegment.ofAddress(scratch.vectorAddress()).reinterpret(entries * 16L);
        long taken = 0;
        for (int i = 0; i < entries && taken < room; i++) {
            long address = vector.get(ValueLayout.JAVA_LONG, i * 16L);
            long length = vector.get(ValueLayout.JAVA_LONG, i * 16L + 8);
            assertThat(length).isPositive();
            long part = Math.min(length, room - taken);
            to.writeBytes(MemorySegment.ofAddress(address).reinterpret(part).toArray(ValueLayout.JAVA_BYTE));
            taken += part;
        }
        return taken;
    }

    /** Removes sent bytes as a lane does. */
    private void takeOff(long sent) {
        long rest = sent;
        while (rest >= 0 && !frames.isEmpty()) {
            if (!frames.isFirstBegun() && rest == 0) {
                return;
            }
            rest = frames.sent(rest);
            if (rest >= 0) {
                ExportedRegion lease = frames.removeFirst();
                if (lease != null) {
                    lease.release();
                }
            }
        }
    }

    private void sendAll() {
        while (!frames.isEmpty()) {
            takeOff(send(Long.MAX_VALUE));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 47, 48, 49, 1000, 100_000})
    void framesLeaveWholeAndInOrderHoweverTheKernelTakesThem(int room) {
        Random random = new Random(room);
        for (int i = 0; i < (room < 10 ? 50 : 2000); i++) {
            int burst = random.nextInt(5);
            for (int j = 0; j < burst; j++) {
                int count = random.nextInt(3) == 0 ? 0 : random.nextInt(200);
                int from = random.nextInt(MEMORY - count);
                add(FrameHeader.WRITE, i, from, count, null);
                expect(FrameHeader.WRITE, i, from, count);
            }
            if (!frames.isEmpty()) {
                takeOff(send(1 + random.nextInt(room)));
            }
        }
        sendAll();
        assertThat(wire.toByteArray()).isEqualTo(expected.toByteArray());
    }

    /** Behind their headers, so that the kernel fetches one piece a frame. */
    @Test
    void smallPayloadsAreCopiedAndLargerOnesLeftWhereTheyAre() {
        for (int count : new int[] {1, 8, 64}) {
            add(FrameHeader.WRITE, count, 5, count, null);
            expect(FrameHeader.WRITE, count, 5, count);
        }
        assertThat(frames.fill(scratch)).isEqualTo(3);
        add(FrameHeader.WRITE, 4, 5, 65, null);
        expect(FrameHeader.WRITE, 4, 5, 65);
        assertThat(frames.fill(scratch)).isEqualTo(5);
        sendAll();
        assertThat(wire.toByteArray()).isEqualTo(expected.toByteArray());
    }

    /** The number of bytes described at once is limited, so that a fast peer cannot keep the poller in one call. */
    @Test
    void aCallTakesALimitedNumberOfBytesAndTheNextGoesOnBehindThem() {
        int more = 100;
        int length = (int) OutboundFrames.DESCRIBED_BYTES + more;
        MemorySegment large = Arena.ofAuto().allocate(length);
        Filling.fill(large, 2);
        frames.add(FrameHeader.WRITE, 0, 1, 2, 3, 4, length, large.address(), length);
        frames.payloadIn(RegionMemory.host(large), null, 0);
        expected.writeBytes(RawLane.header(FrameHeader.WRITE, 0, new Claim(1, 2, 3, 4, length)));
        expected.writeBytes(Filling.bytes(2, 0, length));
        add(FrameHeader.WRITE, 5, 6, 7, null);
        expect(FrameHeader.WRITE, 5, 6, 7);
        int header = expected.size() - length - 7 >> 1;

        int calls = 0;
        while (!frames.isEmpty()) {
            long taken = send(Long.MAX_VALUE);
            assertThat(taken).isBetween(1L, header + OutboundFrames.DESCRIBED_BYTES);
            takeOff(taken);
            calls++;
        }
        assertThat(calls).isGreaterThan(1);
        assertThat(wire.toByteArray()).isEqualTo(expected.toByteArray());
    }

    private static int sumOf(MemorySegment bytes) {
        MemoryChecksum sum = new MemoryChecksum();
        sum.update(bytes, 0, bytes.byteSize());
        return sum.value();
    }

    /** A peer that asks for very much in one frame does not hold up the others of its loop. */
    @Test
    void theChecksumOfALargeFrameIsMadeInPieces() {
        MemorySegment large = Arena.ofAuto().allocate(5 * OutboundFrames.SUMMED_AT_ONCE / 2);
        Filling.fill(large, 3);
        OutboundFrames summed = new OutboundFrames(scratch, true, NoDevices.sends());
        Lender closing = new Lender();
        for (Lender lender : new Lender[] {closing, new Lender()}) {
            summed.add(FrameHeader.READ_DATA, 0, 0, 0, 0, 0, large.byteSize(), large.address(), large.byteSize());
            summed.payloadIn(RegionMemory.host(large), null, 0);
            summed.lease(lender);
        }
        assertThat(summed.fill(scratch)).isZero();
        // what was begun is for a frame that becomes another one
        closing.open = false;
        summed.refuseClosed();
        assertThat(take(summed, FrameHeader.BYTES + FrameHeader.SUMS_BYTES, wire))
                .isPositive();
        MemorySegment refusal = MemorySegment.ofArray(wire.toByteArray());
        assertThat(FrameHeader.operation(refusal, 0)).isEqualTo(FrameHeader.REFUSED);
        assertThat(FrameHeader.isIntact(refusal, 0, new MemoryChecksum())).isTrue();
        summed.removeFirst();

        wire.reset();
        // the first piece may have been made along with the refusal
        int pieces = 0;
        while (pieces <= 2 && summed.fill(scratch) == 0) {
            pieces++;
        }
        assertThat(pieces).isBetween(1, 2);
        assertThat(take(summed, FrameHeader.BYTES + FrameHeader.SUMS_BYTES, wire))
                .isPositive();
        MemorySegment header = MemorySegment.ofArray(wire.toByteArray());
        assertThat(FrameHeader.isIntact(header, 0, new MemoryChecksum())).isTrue();
        assertThat(FrameHeader.payloadSum(header, 0)).isEqualTo(sumOf(large));
    }

    @Test
    void theChecksumOfALargeFrameThatIsEncryptedIsMadeInPieces() {
        MemorySegment large = Arena.ofAuto().allocate(5 * OutboundFrames.SUMMED_AT_ONCE / 2);
        Filling.fill(large, 3);
        OutboundFrames summed = new OutboundFrames(scratch, false, NoDevices.sends());
        summed.add(FrameHeader.READ_DATA, 0, 0, 0, 0, 0, large.byteSize(), large.address(), large.byteSize());
        summed.payloadIn(RegionMemory.host(large), null, 0);
        int header = FrameHeader.BYTES + FrameHeader.SUMS_BYTES;
        MemorySegment to = scratch.staging();
        assertThat(summed.copy(to, header)).isZero();
        assertThat(summed.copy(to, header)).isZero();
        assertThat(summed.copy(to, header)).isEqualTo(header);
        assertThat(FrameHeader.isIntact(to, 0, new MemoryChecksum())).isTrue();
        assertThat(FrameHeader.payloadSum(to, 0)).isEqualTo(sumOf(large));
    }

    /** The kernel finds it out when the frame is to leave, as with a larger payload. */
    @Test
    void smallPayloadWhoseMemoryIsFreedIsDescribed() {
        Arena arena = Arena.ofShared();
        MemorySegment freed = arena.allocate(8);
        arena.close();
        frames.add(FrameHeader.WRITE, 0, 1, 2, 3, 4, 8, freed.address(), 8);
        frames.payloadIn(RegionMemory.host(freed), null, 0);
        assertThat(frames.fill(scratch)).isEqualTo(2);
    }

    /** The ring grows while its first frame is half sent, at every place that its head may have. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 31, 63, 64, 100})
    void growingInTheMiddleOfAFrame(int sentBefore) {
        for (int i = 0; i < sentBefore; i++) {
            add(FrameHeader.READ, i, 0, 0, null);
            expect(FrameHeader.READ, i, 0, 0);
            takeOff(send(Long.MAX_VALUE));
        }
        Lender lender = new Lender();
        add(FrameHeader.READ_DATA, -1, 5, 300, lender);
        expect(FrameHeader.READ_DATA, -1, 5, 300);
        takeOff(send(FrameHeader.BYTES + 100));
        assertThat(frames.isFirstBegun()).isTrue();
        for (int i = 0; i < 1000; i++) {
            add(FrameHeader.WRITE, i, i, i % 50, null);
            expect(FrameHeader.WRITE, i, i, i % 50);
        }
        assertThat(frames.size()).isEqualTo(1001);
        assertThat(frames.firstOperation()).isEqualTo(FrameHeader.READ_DATA);
        assertThat(frames.firstPayloadLength()).isEqualTo(300);
        assertThat(lender.releases).isZero();
        sendAll();
        assertThat(lender.releases).isEqualTo(1);
        assertThat(wire.toByteArray()).isEqualTo(expected.toByteArray());
    }

    @Test
    void answersOfClosedRegionsBecomeRefusalsUnlessTheyHaveBegun() {
        Lender begun = new Lender();
        Lender closing = new Lender();
        Lender staying = new Lender();
        add(FrameHeader.READ_DATA, 1, 0, 100, begun);
        add(FrameHeader.READ_DATA, 2, 100, 100, closing);
        add(FrameHeader.READ_DATA, 3, 200, 100, staying);
        add(FrameHeader.WRITE, 4, 300, 100, null);
        add(FrameHeader.READ_DATA, 5, 400, 100, closing);
        takeOff(send(1));
        begun.open = false;
        closing.open = false;
        frames.refuseClosed();
        frames.refuseClosed();
        assertThat(closing.releases).isEqualTo(2);
        assertThat(begun.releases).isZero();
        assertThat(staying.releases).isZero();
        sendAll();
        expect(FrameHeader.READ_DATA, 1, 0, 100);
        byte[] refusal =
                RawLane.header(RawLane.READ_FAILED, CompletionStatus.UNKNOWN_REGION.code(), new Claim(0, 0, 0, 0, 0));
        expected.writeBytes(refusal);
        expect(FrameHeader.READ_DATA, 3, 200, 100);
        expect(FrameHeader.WRITE, 4, 300, 100);
        expected.writeBytes(refusal);
        assertThat(wire.toByteArray()).isEqualTo(expected.toByteArray());
        assertThat(begun.releases).isEqualTo(1);
        assertThat(closing.releases).isEqualTo(2);
        assertThat(staying.releases).isEqualTo(1);
    }

    @Test
    void firstAnswerThatHasNotBegunIsRefusedToo() {
        Lender closing = new Lender();
        add(FrameHeader.READ_DATA, 1, 0, 100, closing);
        closing.open = false;
        frames.refuseClosed();
        assertThat(closing.releases).isEqualTo(1);
        assertThat(frames.firstOperation()).isEqualTo(FrameHeader.REFUSED);
        assertThat(frames.firstPayloadLength()).isZero();
        sendAll();
        assertThat(wire.size()).isEqualTo(FrameHeader.BYTES);
        assertThat(closing.releases).isEqualTo(1);
    }

    @Test
    void clearingEndsEachLeaseOnce() {
        List<Lender> lenders = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Lender lender = new Lender();
            lenders.add(lender);
            add(FrameHeader.READ_DATA, i, 0, 100, lender);
        }
        takeOff(send(FrameHeader.BYTES + 100 + 10));
        frames.clear();
        frames.clear();
        assertThat(frames.isEmpty()).isTrue();
        assertThat(frames.isFirstBegun()).isFalse();
        assertThat(lenders).allMatch(lender -> lender.releases == 1);
        wire.reset();
        add(FrameHeader.READ, 7, 0, 0, null);
        expect(FrameHeader.READ, 7, 0, 0);
        sendAll();
        assertThat(wire.toByteArray()).isEqualTo(expected.toByteArray());
    }
}
