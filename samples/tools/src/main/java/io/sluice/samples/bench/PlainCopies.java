package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Copies by C's {@code memcpy} what transfers have moved, in their order: what they could reach at most. */
final class PlainCopies {
    /** How much is copied between two looks at the clock. */
    private static final long LOOK_BYTES = 1 << 20;

    private static final MethodHandle MEMCPY = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("memcpy"),
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG));

    private final Layout layout;
    private final MemorySegment local;
    private final MemorySegment remote;
    private final boolean read;
    private final BooleanSupplier interrupted;
    private long copies;
    private long nanos;

    /**
     * Between the ranges of a connection.
     *
     * @param local memory of this side
     * @param remote memory of the serving side, mapped here
     * @param read whether to copy to this side
     * @param interrupted whether to break off
     */
    PlainCopies(Layout layout, MemorySegment local, MemorySegment remote, boolean read, BooleanSupplier interrupted) {
        this.layout = layout;
        this.local = local;
        this.remote = remote;
        this.read = read;
        this.interrupted = interrupted;
    }

    /** Copies for a time, on from where it has stopped. */
    void copyFor(Duration time) {
        long batch = Math.max(1, LOOK_BYTES / layout.size());
        long began = System.nanoTime();
        long elapsed;
        do {
            if (interrupted.getAsBoolean()) {
                throw BenchException.failed("interrupted");
            }
            for (long i = 0; i < batch; i++) {
                copy((int) (copies % layout.targets()));
                copies++;
            }
            elapsed = System.nanoTime() - began;
        } while (elapsed < time.toNanos());
        nanos += elapsed;
    }

    void reset() {
        copies = 0;
        nanos = 0;
    }

    /** The copy rate, in units of 10<sup>9</sup> bytes a second. */
    double gigabytesPerSecond() {
        return (double) copies * layout.size() / nanos;
    }

    /** The ranges lie within both regions, which stay as long as this does. */
    private void copy(int element) {
        long here = local.address() + layout.localOffset(element);
        long there = remote.address() + layout.remoteOffset(element);
        try {
            long ignored = (long) MEMCPY.invokeExact(read ? here : there, read ? there : here, layout.size());
        } catch (Throwable e) {
            throw new IllegalStateException("memcpy does not fail", e);
        }
    }

    /**
     * Finds where a transport has mapped the peer's memory into this process, which the engine does not tell: a mark is
     * transferred there and looked for.
     */
    static final class MappedPeerMemory {
        private static final Path MAPS = Path.of("/proc/self/maps");

        /** Unlike a pointer, reading here fails if a mapping is gone. */
        private static final Path MEMORY = Path.of("/proc/self/mem");

        /** A shared mapping of a file in memory, from its beginning: {@code 7f00-7f10 rw-s 00000000 00:01 1057 /memfd:name}. */
        private static final Pattern SHARED = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) rw-s 0+ \\S+ \\d+ +/memfd:.*");

        private static final int HEX = 16;

        private MappedPeerMemory() {}

        /**
         * The whole of the peer's region. Good as long as the side channel is open.
         *
         * @throws BenchException if it is not mapped here
         */
        static MemorySegment of(TransferEngine engine, SideChannel side) {
            byte[] mark = mark();
            MemoryRegion own = engine.allocate(mark.length, RegionOptions.local());
            try {
                own.segment().asByteBuffer().put(mark);
                side.write(own);
                return find(mark, own.segment().address(), side.remote().length());
            } catch (IOException e) {
                throw BenchException.failed(
                        "--memcpy: this process cannot look at its own mappings: " + e.getMessage());
            } finally {
                Waiting.await(own.close(), "giving memory back");
            }
        }

        private static byte[] mark() {
            UUID random = UUID.randomUUID();
            return ByteBuffer.allocate(2 * Long.BYTES)
                    .putLong(random.getMostSignificantBits())
                    .putLong(random.getLeastSignificantBits())
                    .array();
        }

        private static MemorySegment find(byte[] mark, long own, long length) throws IOException {
            List<String> mappings = Files.readAllLines(MAPS);
            try (FileChannel memory = FileChannel.open(MEMORY)) {
                for (String mapping : mappings) {
                    Matcher matcher = SHARED.matcher(mapping);
                    if (matcher.matches()) {
                        long begin = Long.parseUnsignedLong(matcher.group(1), HEX);
                        long end = Long.parseUnsignedLong(matcher.group(2), HEX);
                        if (begin != own && end - begin >= length && begins(memory, begin, mark)) {
                            return MemorySegment.ofAddress(begin).reinterpret(length);
                        }
                    }
                }
            }
            throw BenchException.usage(
                    "--memcpy: the serving side's memory is not mapped here; use it with --transport shm, on one host");
        }

        private static boolean begins(FileChannel memory, long address, byte[] mark) throws IOException {
            ByteBuffer there = ByteBuffer.allocate(mark.length);
            return memory.read(there, address) == mark.length
                    && ByteBuffer.wrap(mark).equals(there.flip());
        }
    }
}
