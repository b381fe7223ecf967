package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.jni.MachineFacts;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Very many small transfers, and very large ones. */
interface VolumeContract extends Contract {
    int SLOT_BYTES = 48;
    int OUTSTANDING = 10_000;
    /** How much of the largest regions the short test touches. */
    long MOST_TOUCHED = 24L << 20;

    @Test
    default void verySmallTransfersArriveByteByByte() throws InterruptedException {
        int count = ContractProfile.of(transport()).smallTransfers();
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(2))) {
            MemoryRegion source = filled(pair.local((long) count * SLOT_BYTES), 5);
            MemoryRegion served = pair.served(source.length());
            MemoryRegion back = pair.local(source.length());
            RemoteRegion remote = pair.attach(served);
            Connection connection = pair.connection();
            each(
                    count,
                    (i, callback) -> connection.write(
                            source, at(i), remote, at(i), length(i), TransferOptions.defaults(), callback));
            each(
                    count,
                    (i, callback) -> connection.read(
                            back, at(i), remote, at(i), length(i), TransferOptions.defaults(), callback));
            for (int i = 0; i < count; i++) {
                for (MemoryRegion copy : new MemoryRegion[] {served, back}) {
                    MemorySegment slot = bytesOf(copy).slice(at(i), SLOT_BYTES).contents();
                    for (int j = 0; j < SLOT_BYTES; j++) {
                        byte expected = j < length(i) ? BytePattern.at(5, at(i) + j) : 0;
                        byte actual = slot.get(ValueLayout.JAVA_BYTE, j);
                        if (actual != expected) {
                            assertThat(actual)
                                    .as("byte %d of transfer %d of %d bytes", j, i, length(i))
                                    .isEqualTo(expected);
                        }
                    }
                }
            }
        }
    }

    private static long at(int number) {
        return (long) number * SLOT_BYTES;
    }

    private static int length(int number) {
        return 1 + number % (SLOT_BYTES - 8);
    }

    /** Starts the transfer of a number. */
    @FunctionalInterface
    interface Numbered {
        void start(int number, TransferCallback callback);
    }

    private static void each(int count, Numbered transfer) throws InterruptedException {
        Semaphore room = new Semaphore(OUTSTANDING);
        AtomicInteger ends = new AtomicInteger();
        AtomicReference<SluiceException> failure = new AtomicReference<>();
        for (int i = 0; i < count; i++) {
            assertThat(room.tryAcquire(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                    .as("progress")
                    .isTrue();
            transfer.start(i, (ended, error) -> {
                if (error != null) {
                    failure.compareAndSet(null, error);
                }
                ends.incrementAndGet();
                room.release();
            });
        }
        assertThat(room.tryAcquire(OUTSTANDING, Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                .as("all ended")
                .isTrue();
        if (failure.get() != null) {
            throw new AssertionError("a transfer failed", failure.get());
        }
        assertThat(ends).hasValue(count);
    }

    @Test
    @Tag("soak")
    default void oneTransferOfMoreThanFourGibibytes() {
        long bytes = hugeBytes(transport());
        moveAll(bytes, 0);
    }

    @Test
    default void transfersReachWhatLiesAboveFourGibibytes() {
        assumeTrue(
                !transport().isVariant() || ContractProfile.of(transport()).isLarge(),
                "another shape of this transport reaches as far");
        long bytes = hugeBytes(transport());
        // What is not touched costs nothing: of the regions only the end, from below the boundary to above it.
        moveAll(bytes, Math.max(0, bytes - MOST_TOUCHED));
    }

    /** Moves all that lies from an offset on between two regions, in one transfer, to and fro. */
    private void moveAll(long bytes, long from) {
        long moved = bytes - from;
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            Connection connection = await(engine.connect(engine.address()));
            // Most of the source is never touched, and what is not costs no memory; the marks show misplaced chunks.
            MemoryRegion source = allocate(engine, bytes, RegionOptions.readOnly());
            ContractBytes marked = bytesOf(source);
            long marks = 0;
            for (long at = from; at + 8 <= bytes; at += 64 << 10) {
                long within = Math.min(at + (at >>> 16) % 60_000, bytes - 8);
                marked.setLong(within, at + 1);
                marks++;
            }
            marked.setLong(bytes - 8, -1L);
            MemoryRegion sink = allocate(engine, bytes, RegionOptions.readWrite());
            RemoteRegion served = await(connection.attach(source.descriptor()));
            RemoteRegion to = await(connection.attach(sink.descriptor()));
            TerminalSignal written = new TerminalSignal();
            connection.write(source, from, to, from, moved, TransferOptions.defaults(), written);
            written.awaitSuccess(Patience.longBound());
            assertThat(marks).isGreaterThan(1);
            BytePattern.assertSame(
                    bytesOf(sink).slice(from, moved), bytesOf(source).slice(from, moved));
            assertThat(engine.metrics().bytes(Operation.WRITE)).isEqualTo(moved);

            // The far end once more, by small transfers at offsets beyond 32 bits.
            MemoryRegion small = allocate(engine, 8192, RegionOptions.local());
            for (long at : new long[] {bytes - 8192, (bytes >>> 1) - 4096, bytes > 1L << 32 ? (1L << 32) - 4096 : 0}) {
                TerminalSignal read = new TerminalSignal();
                connection.read(small, 0, served, at, 8192, TransferOptions.defaults(), read);
                read.awaitSuccess();
                BytePattern.assertSame(bytesOf(small), bytesOf(source).slice(at, 8192));
                BytePattern.fill(bytesOf(small), at);
                TerminalSignal again = new TerminalSignal();
                connection.write(small, 0, to, at, 8192, TransferOptions.defaults(), again);
                again.awaitSuccess();
                BytePattern.assertFilled(bytesOf(sink).slice(at, 8192), at);
            }
            // And all of it in the other direction.
            TerminalSignal read = new TerminalSignal();
            connection.read(sink, from, served, from, moved, TransferOptions.defaults(), read);
            read.awaitSuccess(Patience.longBound());
            BytePattern.assertSame(
                    bytesOf(sink).slice(from, moved), bytesOf(source).slice(from, moved));
        }
    }

    /** The profile's size, or less, loudly, where memory is short. */
    private static long hugeBytes(TransportUnderTest transport) {
        ContractProfile profile = ContractProfile.of(transport);
        long wanted = profile == ContractProfile.LARGE
                ? profile.hugeTransferBytes()
                : Math.min(profile.hugeTransferBytes(), transport.mostBytesInShortRuns());
        long available = availableMemory();
        // The whole sink, the source's marked pages, and as much again so that other processes are not pushed out of
        // memory.
        long affordable = available / 2;
        if (wanted <= affordable) {
            return wanted;
        }
        long scaled = Math.max(64L << 20, affordable) & -4096L;
        System.out.println("NOTE: the huge transfer is " + scaled + " bytes instead of " + wanted + ", as only "
                + available + " bytes of memory are available");
        return Math.min(wanted, scaled);
    }

    private static long availableMemory() {
        // nothing where the kernel does not tell
        return Math.max(0, MachineFacts.availableMemory());
    }
}
