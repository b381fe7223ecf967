package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryCopyTest {
    /** The threshold of the C code. */
    private static final int STREAMED_FROM = 2560 << 10;

    private static final int LARGEST = (4 << 20) + 40_000;
    private static final long[] OFFSETS = {0, 1, 31, 64, 127};
    private static final MemorySegment FROM = random();

    @ParameterizedTest
    @ValueSource(
            ints = {
                0,
                1,
                8,
                63,
                64,
                4095,
                4096,
                4097,
                16_384,
                65_537,
                (1 << 20) - 1,
                1 << 20,
                (1 << 20) + 1,
                STREAMED_FROM - 1,
                STREAMED_FROM,
                STREAMED_FROM + 1,
                4 << 20,
                LARGEST - 127
            })
    void exactly_the_bytes_asked_for_are_copied(int bytes) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment to = arena.allocate(LARGEST + 64, 64);
            for (long toOffset : OFFSETS) {
                for (long fromOffset : bytes > 1 << 20 ? new long[] {toOffset / 2} : OFFSETS) {
                    to.fill((byte) 0x5a);
                    MemoryCopy.copy(to, toOffset, FROM, fromOffset, bytes);
                    assertThat(MemorySegment.mismatch(
                                    to, toOffset, toOffset + bytes, FROM, fromOffset, fromOffset + bytes))
                            .isEqualTo(-1);
                    assertUntouched(to.asSlice(0, toOffset));
                    assertUntouched(to.asSlice(toOffset + bytes));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 64, 16_384, 65_537, LARGEST - 127})
    void a_copy_past_the_caches_copies_exactly_the_bytes_asked_for(int bytes) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment to = arena.allocate(LARGEST + 64, 64);
            for (long offset : OFFSETS) {
                to.fill((byte) 0x5a);
                MemoryCopy.copyPastCaches(to, offset, FROM, 127 - offset, bytes);
                assertThat(MemorySegment.mismatch(to, offset, offset + bytes, FROM, 127 - offset, 127 - offset + bytes))
                        .isEqualTo(-1);
                assertUntouched(to.asSlice(0, offset));
                assertUntouched(to.asSlice(offset + bytes));
            }
            assertThatThrownBy(() -> MemoryCopy.copyPastCaches(to.asReadOnly(), 0, FROM, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> MemoryCopy.copyPastCaches(to, to.byteSize() - 1, FROM, 0, 2))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4096, 65_537, LARGEST - 127})
    void the_kernel_copies_exactly_the_bytes_asked_for(int bytes) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment to = arena.allocate(LARGEST + 64, 64);
            for (long offset : OFFSETS) {
                to.fill((byte) 0x5a);
                assertThat(MemoryCopy.copyByKernel(to, offset, FROM, 127 - offset, bytes))
                        .isZero();
                assertThat(MemorySegment.mismatch(to, offset, offset + bytes, FROM, 127 - offset, 127 - offset + bytes))
                        .isEqualTo(-1);
                assertUntouched(to.asSlice(0, offset));
                assertUntouched(to.asSlice(offset + bytes));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4096, 8 << 20})
    void a_mapped_file_that_was_cut_short_is_an_error(int bytes, @TempDir Path folder) throws IOException {
        try (Arena arena = Arena.ofShared();
                FileChannel file = FileChannel.open(
                        folder.resolve("cut"),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
            MemorySegment other = arena.allocate(bytes);
            assertThat(MemoryCopy.copyByKernel(other, 0, mapped, 0, bytes)).isZero();
            assertThat(MemoryCopy.copyByKernel(mapped, 0, other, 0, bytes)).isZero();
            file.truncate(0);
            assertThat(MemoryCopy.copyByKernel(other, 0, mapped, 0, bytes)).isEqualTo(-Errno.EFAULT);
            assertThat(MemoryCopy.copyByKernel(mapped, 0, other, 0, bytes)).isEqualTo(-Errno.EFAULT);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1000, 4 << 20})
    void ranges_may_overlap(int bytes) {
        try (Arena arena = Arena.ofConfined()) {
            for (long distance : new long[] {-64, -1, 0, 1, 64}) {
                MemorySegment memory = arena.allocate(bytes + 200L);
                memory.copyFrom(FROM.asSlice(0, bytes + 200L));
                MemoryCopy.copy(memory, 100 + distance, memory, 100, bytes);
                assertThat(MemorySegment.mismatch(
                                memory, 100 + distance, 100 + distance + bytes, FROM, 100, 100L + bytes))
                        .isEqualTo(-1);
            }
        }
    }

    @Test
    void what_is_out_of_bounds_is_refused() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment small = arena.allocate(100);
            MemorySegment large = arena.allocate(200);
            for (long[] range : new long[][] {
                {0, 101}, {1, 100}, {100, 1}, {101, 0}, {-1, 1}, {0, -1}, {1, Long.MAX_VALUE}, {Long.MAX_VALUE, 1}
            }) {
                assertThatThrownBy(() -> MemoryCopy.copy(small, range[0], large, 0, range[1]))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> MemoryCopy.copy(large, 0, small, range[0], range[1]))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> MemoryCopy.copyByKernel(small, range[0], large, 0, range[1]))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> MemoryCopy.copyByKernel(large, 0, small, range[0], range[1]))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
            MemoryCopy.copy(small, 100, large, 200, 0);
        }
    }

    @Test
    void segments_that_do_not_fit_are_refused() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(8);
            assertThatThrownBy(() -> MemoryCopy.copy(segment.asReadOnly(), 0, segment, 0, 8))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("read-only");
            assertThatThrownBy(() -> MemoryCopy.copyByKernel(segment.asReadOnly(), 0, segment, 0, 8))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("read-only");
            MemoryCopy.copy(segment, 0, segment.asReadOnly(), 0, 8);
            MemorySegment heap = MemorySegment.ofArray(new byte[8]);
            assertThatThrownBy(() -> MemoryCopy.copy(heap, 0, segment, 0, 8))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> MemoryCopy.copy(segment, 0, heap, 0, 8))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> CompletableFuture.runAsync(() -> MemoryCopy.copy(segment, 0, segment, 0, 8))
                            .join())
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(WrongThreadException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_closed_arena_is_refused(boolean shared) {
        try (Arena open = Arena.ofShared()) {
            MemorySegment there = open.allocate(8);
            MemorySegment gone;
            try (Arena arena = shared ? Arena.ofShared() : Arena.ofConfined()) {
                gone = arena.allocate(8);
            }
            for (long bytes : new long[] {0, 8}) {
                assertThatThrownBy(() -> MemoryCopy.copy(gone, 0, there, 0, bytes))
                        .isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> MemoryCopy.copy(there, 0, gone, 0, bytes))
                        .isInstanceOf(IllegalStateException.class);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 64 << 10, 4 << 20})
    void an_arena_is_closed_between_copies_and_never_within(int bytes) throws Exception {
        for (int round = 0; round < 20; round++) {
            Arena arena = Arena.ofShared();
            MemorySegment from = arena.allocate(bytes);
            MemorySegment to = arena.allocate(bytes);
            CountDownLatch copying = new CountDownLatch(1);
            CompletableFuture<Void> copies = CompletableFuture.runAsync(() -> {
                while (true) {
                    MemoryCopy.copy(to, 0, from, 0, bytes);
                    copying.countDown();
                    // Copies without a pause would leave the other no moment to close the arena.
                    LockSupport.parkNanos(1000);
                }
            });
            assertThat(copying.await(Patience.BOUND.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            closeBetweenCopies(arena);
            assertThatThrownBy(() -> copies.get(Patience.BOUND.toSeconds(), TimeUnit.SECONDS))
                    .hasCauseInstanceOf(IllegalStateException.class);
        }
    }

    private static void closeBetweenCopies(Arena arena) {
        long end = System.nanoTime() + Patience.BOUND.toNanos();
        while (arena.scope().isAlive()) {
            try {
                arena.close();
            } catch (IllegalStateException e) {
                // A copy is under way.
                assertThat(System.nanoTime() - end).isNegative();
            }
        }
    }

    @Test
    void pages_are_copied_until_one_lies_outside() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(40);
            MemorySegment to = arena.allocate(40);
            for (int i = 0; i < 40; i++) {
                from.set(ValueLayout.JAVA_BYTE, i, (byte) i);
            }
            MemorySegment sources = arena.allocateFrom(ValueLayout.JAVA_LONG, 0, 30, 10, 31);
            MemorySegment targets = arena.allocateFrom(ValueLayout.JAVA_LONG, 0, 5, 25, 0);
            assertThat(MemoryCopy.copyPages(to, targets, from, sources, 1, 2, 10))
                    .isEqualTo(2);
            assertThat(to.asSlice(5, 10).mismatch(from.asSlice(30, 10))).isEqualTo(-1);
            assertThat(to.asSlice(25, 10).mismatch(from.asSlice(10, 10))).isEqualTo(-1);
            assertThat(MemoryCopy.copyPages(to, targets, from, sources, 1, 3, 10))
                    .isEqualTo(2);
            assertThat(MemoryCopy.copyPages(to, targets, from, sources, 4, 0, 10))
                    .isZero();
            assertThatThrownBy(() -> MemoryCopy.copyPages(to, targets, from, sources, 1, 4, 10))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> MemoryCopy.copyPages(to.asReadOnly(), targets, from, sources, 0, 1, 10))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> MemoryCopy.copyPages(to, targets, from, sources, 0, 1, 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static void assertUntouched(MemorySegment rest) {
        byte[] bytes = rest.toArray(ValueLayout.JAVA_BYTE);
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] != 0x5a) {
                assertThat(i).as("the first offset that was written to").isEqualTo(-1);
            }
        }
    }

    private static MemorySegment random() {
        byte[] bytes = new byte[LARGEST + 64];
        new Random(42).nextBytes(bytes);
        return Arena.ofAuto().allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }
}
