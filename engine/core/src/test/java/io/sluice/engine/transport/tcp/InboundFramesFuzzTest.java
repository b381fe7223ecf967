package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Filling;
import io.sluice.engine.Integrity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import io.sluice.fuzz.Mutation;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import io.sluice.testkit.Extent;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.Patience;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Any bytes on a lane are frames, or a protocol's error, or the end; no byte lands outside the slice. The system property
 * {@code sluice.fuzz.streams} says how many streams of one to eight frames are tried.
 */
class InboundFramesFuzzTest {
    private static final String COUNT = "sluice.fuzz.streams";
    private static final int STREAMS = Extent.of(6_000, 20_000);
    private static final int MARGIN = 256;
    private static final int SLICE = 64 * 1024;
    private static final int READ_BYTES = 500;
    private static final int READS = 20;
    private static final Claim RIGHT = new Claim(5, 6, 7, 0, 0);

    private final FuzzSeed seed = FuzzSeed.of("InboundFramesFuzzTest");
    private final LoopScratch scratch = new LoopScratch();
    private final MemorySegment memory = Arena.ofAuto().allocate(MARGIN + SLICE + MARGIN);
    private final MemorySegment local = Arena.ofAuto().allocate(MARGIN + READ_BYTES + MARGIN);
    private int protocolErrors;
    private int ends;
    private int handled;
    private long framesSent;
    private long framesDamaged;

    InboundFramesFuzzTest() {
        Filling.fill(memory, 1);
        Filling.fill(local, 2);
    }

    /** The slice, whose rules are those of any region. */
    private final class Slice implements ExportedRegion {
        private int leases;

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
            if (key != RIGHT.key() || epoch != RIGHT.epoch()) {
                return CompletionStatus.BAD_KEY;
            }
            if (offset < 0 || length < 0 || offset > SLICE - length) {
                return CompletionStatus.OUT_OF_BOUNDS;
            }
            leases++;
            return CompletionStatus.SUCCESS;
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
            leases--;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public RegionMemory memory() {
            return RegionMemory.host(memory.asSlice(MARGIN, SLICE));
        }

        @Override
        public long fetchAdd(long offset, long addend) {
            long before = memory().segment().get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
            memory().segment().set(ValueLayout.JAVA_LONG_UNALIGNED, offset, before + addend);
            return before;
        }

        @Override
        public long compareAndSwap(long offset, long expected, long replacement) {
            long before = memory().segment().get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
            if (before == expected) {
                memory().segment().set(ValueLayout.JAVA_LONG_UNALIGNED, offset, replacement);
            }
            return before;
        }
    }

    /** The part of a connection that reading a lane needs. */
    private final class Context implements EndpointContext {
        private final Slice slice = new Slice();

        @Override
        public void send(byte[] message) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void notified(byte[] payload) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void notificationsSendable() {
            throw new UnsupportedOperationException();
        }

        @Override
        public @Nullable ExportedRegion exportedRegion(long handle) {
            return handle == RIGHT.handle() ? slice : null;
        }

        @Override
        public void served(WorkRequest.Opcode operation, long bytes) {
            assertThat(bytes).isBetween(0L, (long) SLICE);
        }

        @Override
        public EventLoop loop() {
            throw new UnsupportedOperationException();
        }

        @Override
        public EngineOptions options() {
            return EngineOptions.defaults();
        }

        @Override
        public Integrity integrity() {
            return Integrity.NONE;
        }

        @Override
        public boolean initiator() {
            return false;
        }

        @Override
        public void openLanes(int count) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void wordsChanged() {}

        @Override
        public void established() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void completed(WorkRequest request, CompletionStatus status) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void postable() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void failed(SluiceException error) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void count(WireCounter counter, long delta) {}

        @Override
        public void refused() {
            throw new UnsupportedOperationException();
        }
    }

    /** A read that waits for its answer. */
    private final class AskedRead extends WorkRequest {
        AskedRead() {
            describe(Opcode.READ, RegionMemory.host(local), null, MARGIN, READ_BYTES, new RemoteKey(0, 0, 0), 0);
        }
    }

    /** A read of pages that waits for its answer, of as many bytes. */
    private final class AskedPages extends WorkRequest {
        private static final int PAGES = 5;

        AskedPages() {
            PageTable table = new PageTable(READ_BYTES / PAGES, MARGIN, READ_BYTES, SLICE);
            table.fill(new int[] {4, 1, 3, 0, 2}, new int[PAGES]);
            describe(Opcode.READ, RegionMemory.host(local), null, MARGIN, READ_BYTES, new RemoteKey(0, 0, 0), 0);
            addPages(table, 0, PAGES);
        }
    }

    /** Keeps the rules that a lane keeps. */
    private class Lane implements InboundFrames.Sink {
        private final WorkRequest asked = new AskedRead();
        private final WorkRequest askedPages = new AskedPages();
        private int unanswered = READS;

        @Override
        public void received(long bytes) {
            assertThat(bytes).isPositive();
        }

        @Override
        public void writeHandled(CompletionStatus status) {
            handled++;
        }

        @Override
        public void readAsked(ExportedRegion region, long offset, long length) {
            handled++;
            region.release();
        }

        @Override
        public void pagesAsked(ExportedRegion region, IncomingTable table) {
            handled++;
            for (int i = 0; i < table.count(); i++) {
                long offset = table.offsets().getAtIndex(ValueLayout.JAVA_LONG, i);
                assertThat(offset).isBetween(0L, SLICE - table.pageBytes());
            }
            region.release();
        }

        @Override
        public void fetched(long word) {
            handled++;
        }

        @Override
        public void readRefused(CompletionStatus status) {
            assertThat(status).isNotEqualTo(CompletionStatus.SUCCESS);
            handled++;
        }

        @Override
        public void writesAcknowledged(long count, CompletionStatus last) {
            if (count < 1 || count > 1000) {
                throw new ProtocolException("not sent");
            }
        }

        @Override
        public WorkRequest readAnswered() {
            if (unanswered == 0) {
                throw new ProtocolException("not asked");
            }
            return unanswered % 2 == 0 ? asked : askedPages;
        }

        @Override
        public void readDone(CompletionStatus status) {
            unanswered--;
        }

        @Override
        public boolean hasEnough() {
            return false;
        }

        @Override
        public boolean isClosed() {
            return false;
        }
    }

    private static byte[] frame(Random random) {
        int length = random.nextInt(random.nextInt(8) == 0 ? SLICE : 400);
        long offset = random.nextInt(SLICE - length + 1);
        Claim claim = RIGHT.at(offset, length);
        return switch (random.nextInt(15)) {
            case 0, 1, 2 -> RawLane.write(claim, new byte[length]);
            case 3 -> RawLane.write(claim.key(0), new byte[length]);
            case 4 -> RawLane.read(claim);
            case 5 -> RawLane.join(RawLane.readData(READ_BYTES), new byte[READ_BYTES]);
            case 6 -> RawLane.count(RawLane.ACK + random.nextInt(2), random.nextInt(256), random.nextInt(1000));
            case 7 -> RawLane.word(RawLane.PUT, RIGHT.at(offset, 1 + random.nextInt(8)), random.nextLong(), 0);
            case 8 -> RawLane.word(RawLane.SIGNAL + random.nextInt(4), RIGHT.at(offset, 8), random.nextLong(), 0);
            case 9 ->
                RawLane.join(
                        RawLane.writeBeforeSignal(claim, new byte[length]),
                        RawLane.word(RawLane.SIGNAL_OF_WRITE, RIGHT.at(offset, 8), 1, 0));
            case 10 -> RawLane.word(RawLane.FETCHED, RIGHT.at(0, 8), random.nextLong(), 0);
            case 11, 12, 13 -> pagesFrame(random);
            default -> RawLane.count(RawLane.READ_FAILED, random.nextInt(256), 0);
        };
    }

    private static byte[] pagesFrame(Random random) {
        int pageBytes = 1 + random.nextInt(random.nextInt(4) == 0 ? 2000 : 40);
        long[] offsets = random.longs(1 + random.nextInt(random.nextInt(8) == 0 ? 30 : 5), 0, SLICE - pageBytes + 1)
                .toArray();
        if (random.nextInt(4) == 0) {
            offsets[random.nextInt(offsets.length)] = random.nextBoolean() ? SLICE - pageBytes + 1 : random.nextLong();
        }
        Claim claim = random.nextInt(8) == 0 ? RIGHT.key(0) : RIGHT;
        return random.nextInt(3) == 0
                ? RawLane.readPages(claim, pageBytes, offsets)
                : RawLane.writePages(claim, pageBytes, offsets);
    }

    private byte[] stream(Random random) {
        if (random.nextInt(10) == 0) {
            byte[] noise = new byte[random.nextInt(500)];
            random.nextBytes(noise);
            return noise;
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        int frames = 1 + random.nextInt(8);
        for (int i = 0; i < frames; i++) {
            byte[] frame = frame(random);
            // A header is more worth hitting than a payload.
            boolean damages = random.nextInt(4) == 0;
            all.writeBytes(damages ? damaged(frame, random) : frame);
            framesSent++;
            framesDamaged += damages ? 1 : 0;
        }
        return all.toByteArray();
    }

    private static byte[] damaged(byte[] frame, Random random) {
        if (random.nextInt(5) == 0) {
            return Mutation.of(frame, random);
        }
        byte[] header = Mutation.of(Arrays.copyOf(frame, RawLane.HEADER_BYTES), random);
        return RawLane.join(header, Arrays.copyOfRange(frame, RawLane.HEADER_BYTES, frame.length));
    }

    @Test
    void anyBytes() throws Exception {
        Random random = seed.random();
        int streams = Integer.getInteger(COUNT, seed.scaled(STREAMS));
        try (ServerSocket server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < streams; i++) {
                receive(server, stream(random), random);
            }
        }
        Filling.assertFilled(memory, 1, 0, MARGIN);
        Filling.assertFilled(memory, 1, MARGIN + SLICE, memory.byteSize());
        Filling.assertFilled(local, 2, 0, MARGIN);
        Filling.assertFilled(local, 2, MARGIN + READ_BYTES, local.byteSize());
        System.out.println("InboundFramesFuzzTest: " + streams + " streams of " + framesSent + " frames ("
                + framesDamaged
                + " of them damaged) or noise; " + handled + " handled, " + protocolErrors + " streams refused, " + ends
                + " read to their end");
        assertThat(protocolErrors).isPositive();
        assertThat(ends).isPositive();
        assertThat(handled).isPositive();
    }

    private static int connect(ServerSocket server) {
        int descriptor = Sockets.openStream(false);
        int connecting = Sockets.connect(descriptor, server.getInetAddress().getAddress(), 0, server.getLocalPort());
        assertThat(connecting).isIn(0, -Errno.EINPROGRESS);
        return descriptor;
    }

    /** A lane whose answer finds no room in memory that is short. */
    private final class ShortOfMemory extends Lane {
        @Override
        public void readAsked(ExportedRegion region, long offset, long length) {
            throw new OutOfMemoryError("for the test");
        }

        @Override
        public void pagesAsked(ExportedRegion region, IncomingTable table) {
            throw new OutOfMemoryError("for the test");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aReadThatCannotBeAnsweredLeavesNoLease(boolean pages) throws IOException {
        byte[] frame = pages ? RawLane.readPages(RIGHT, 100, 0, 1000) : RawLane.read(RIGHT.at(0, 100));
        try (ServerSocket server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress())) {
            int descriptor = connect(server);
            Context context = new Context();
            InboundFrames frames =
                    new InboundFrames(context, scratch, descriptor, null, NoDevices.receives(), new ShortOfMemory());
            try (Socket writer = server.accept()) {
                writer.getOutputStream().write(frame);
                assertThatThrownBy(() -> Patience.until("the read is asked", () -> receivedAll(frames)))
                        .isInstanceOf(OutOfMemoryError.class);
            } finally {
                frames.close();
                Sockets.close(descriptor);
            }
            assertThat(context.slice.leases).isZero();
        }
    }

    /** Writes with signals, as messages of a pipeline come: their bytes go straight to where they belong. */
    @Test
    void ofLargePayloadsBehindOneAnotherLittleIsCopied() throws IOException {
        int length = 60_000;
        int writes = 20;
        int copied = 16 * 1024;
        byte[] frame = RawLane.join(
                RawLane.writeBeforeSignal(RIGHT.at(0, length), new byte[length]),
                RawLane.word(RawLane.SIGNAL_OF_WRITE, RIGHT.at(SLICE - 8, 8), 1, 0));
        try (ServerSocket server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress())) {
            int descriptor = connect(server);
            InboundFrames frames =
                    new InboundFrames(new Context(), scratch, descriptor, null, NoDevices.receives(), new Lane());
            try (Socket writer = server.accept()) {
                int begun = length / 2;
                writer.getOutputStream().write(frame, 0, begun);
                Patience.until("a payload is coming", () -> {
                    receivedAll(frames);
                    return frames.isInsideFrame();
                });
                writer.getOutputStream().write(frame, begun, frame.length - begun);
                Patience.until("the first has come", () -> {
                    receivedAll(frames);
                    return handled == 1;
                });
                MemorySegment untouched = scratch.staging().asSlice(copied);
                untouched.fill((byte) 0x5A);
                for (int i = 1; i < writes; i++) {
                    int expected = i + 1;
                    writer.getOutputStream().write(frame);
                    Patience.until("the next has come", () -> {
                        receivedAll(frames);
                        return handled == expected;
                    });
                }
                assertThat(untouched.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x5A);
            } finally {
                frames.close();
                Sockets.close(descriptor);
            }
        }
    }

    private void receive(ServerSocket server, byte[] bytes, Random random) throws IOException {
        int descriptor = connect(server);
        Context context = new Context();
        InboundFrames frames = new InboundFrames(context, scratch, descriptor, null, NoDevices.receives(), new Lane());
        try (Socket writer = server.accept()) {
            writer.setTcpNoDelay(true);
            boolean over = false;
            int at = 0;
            while (at < bytes.length && !over) {
                int piece = Math.min(bytes.length - at, 1 + random.nextInt(random.nextBoolean() ? 100 : 100_000));
                writer.getOutputStream().write(bytes, at, piece);
                at += piece;
                over = receivedAll(frames);
            }
            if (!over) {
                writer.shutdownOutput();
                Patience.until("the end is seen", () -> receivedAll(frames));
            }
        } finally {
            frames.close();
            Sockets.close(descriptor);
        }
        assertThat(context.slice.leases).as("leases never released").isZero();
    }

    /** True at the end, of one kind or the other; anything but the typed errors fails the test. */
    private boolean receivedAll(InboundFrames frames) {
        try {
            InboundFrames.Received received = frames.receive();
            while (received == InboundFrames.Received.PROGRESS) {
                received = frames.receive();
            }
            if (received == InboundFrames.Received.END_OF_STREAM) {
                ends++;
                return true;
            }
            return false;
        } catch (ProtocolException refused) {
            protocolErrors++;
            return true;
        } catch (SocketFailedException e) {
            throw new AssertionError(e);
        }
    }
}
