package io.sluice.collectives.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.testkit.FuzzSeed;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bits that C gives are those of plain Java. */
class NativeReducerTest {
    private static final PlainReducer PLAIN = new PlainReducer();
    private static final NativeReducer NATIVE = new NativeReducer();
    private static final int[] COUNTS = {0, 1, 15, 16, 17, 1_000};

    private final Random random = FuzzSeed.of("NativeReducerTest").random();

    @ParameterizedTest
    @CsvSource({
        TypeCode.INT8 + ", 1",
        TypeCode.UINT8 + ", 1",
        TypeCode.INT32 + ", 4",
        TypeCode.UINT32 + ", 4",
        TypeCode.INT64 + ", 8",
        TypeCode.UINT64 + ", 8",
        TypeCode.FLOAT16 + ", 2",
        TypeCode.BFLOAT16 + ", 2",
        TypeCode.FLOAT32 + ", 4",
        TypeCode.FLOAT64 + ", 8"
    })
    void everyTypeAndOperationGivesTheSameBits(int type, int bytes) {
        try (Arena arena = Arena.ofConfined()) {
            for (int count : COUNTS) {
                long length = (long) count * bytes;
                // operands need no alignment
                MemorySegment first = random(arena, length + 1);
                MemorySegment second = random(arena, length + 3);
                for (int operation = OperationCode.SUM; operation <= OperationCode.AVERAGE; operation++) {
                    MemorySegment expected = arena.allocate(length + 2);
                    MemorySegment found = arena.allocate(length + 2);
                    PLAIN.reduce(type, operation, expected, 2, first, 1, second, 3, count);
                    NATIVE.reduce(type, operation, found, 2, first, 1, second, 3, count);
                    assertSame(found, expected, "type " + type + ", operation " + operation + ", count " + count);
                    PLAIN.divide(type, expected, 2, count, 3);
                    NATIVE.divide(type, found, 2, count, 3);
                    assertSame(found, expected, "type " + type + ", a third of operation " + operation);
                    PLAIN.reduce(type, operation, expected, 2, expected, 2, second, 3, count);
                    NATIVE.reduce(type, operation, found, 2, found, 2, second, 3, count);
                    assertSame(found, expected, "type " + type + " in place, operation " + operation);
                }
            }
        }
    }

    private MemorySegment random(Arena arena, long bytes) {
        MemorySegment memory = arena.allocate(bytes);
        for (long i = 0; i < bytes; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
        return memory;
    }

    private static void assertSame(MemorySegment found, MemorySegment expected, String what) {
        assertThat(found.mismatch(expected)).as(what).isEqualTo(-1);
    }

    @Test
    void memoryOfTheHeapAndOfFilesIsReducedInJava(@TempDir Path folder) throws IOException {
        MemorySegment heap = MemorySegment.ofArray(new int[100]).fill((byte) 1);
        Path file = folder.resolve("elements");
        try (FileChannel channel = FileChannel.open(
                        file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
                Arena arena = Arena.ofConfined()) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 400, arena);
            NATIVE.reduce(TypeCode.INT32, OperationCode.SUM, mapped, 0, heap, 0, heap, 0, 100);
            NATIVE.divide(TypeCode.INT32, mapped, 0, 100, 2);
            assertSame(mapped, heap, "sum of both, halved");
        }
    }

    @Test
    void memoryOfAClosedArenaIsNotTouched() {
        MemorySegment closed;
        try (Arena arena = Arena.ofShared()) {
            closed = arena.allocate(400);
        }
        assertThatThrownBy(() -> NATIVE.reduce(TypeCode.INT32, OperationCode.SUM, closed, 0, closed, 0, closed, 0, 100))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> NATIVE.divide(TypeCode.INT32, closed, 0, 100, 2))
                .isInstanceOf(IllegalStateException.class);
    }
}
