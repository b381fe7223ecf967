package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReduceTest {
    private static final int[] OPERATIONS = {Reduce.SUM, Reduce.PRODUCT, Reduce.MIN, Reduce.MAX, Reduce.AVERAGE};
    private static final int[] COUNTS = {0, 1, 2, 7, 63, 64, 65, 331};
    private static final int PAIRS = 4_000;

    private final int best = Reduce.variant();
    private final Random random = new Random(27);

    @AfterEach
    void useTheBest() {
        assertThat(Reduce.use(best)).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                Reduce.INT8,
                Reduce.UINT8,
                Reduce.INT32,
                Reduce.UINT32,
                Reduce.INT64,
                Reduce.UINT64,
                Reduce.FLOAT16,
                Reduce.BFLOAT16,
                Reduce.FLOAT32,
                Reduce.FLOAT64
            })
    void every_variant_gives_the_bits_that_java_gives(int type) {
        for (int operation : OPERATIONS) {
            for (int count : COUNTS) {
                check(type, operation, 2, count);
            }
            check(type, operation, 1, 100);
            check(type, operation, 3, 257);
            check(type, operation, Reduce.MAX_OPERANDS, 70);
            check(type, operation, 2, PAIRS);
        }
    }

    @Test
    void sixteen_bits_are_rounded_once() {
        // 257 lies between two values, and one rounded sum after the other would stay at 256
        assertThat(reduced(Reduce.BFLOAT16, Reduce.SUM, 0x4380, 0x3f80, 0x3f80)).isEqualTo(0x4381);
        assertThat(reduced(Reduce.BFLOAT16, Reduce.SUM, 0x4380, 0x3f80)).isEqualTo(0x4380);
        // the sum exceeds float16, the average does not
        assertThat(reduced(Reduce.FLOAT16, Reduce.AVERAGE, 0x7bff, 0x7bff)).isEqualTo(0x7bff);
    }

    @Test
    void operands_are_added_in_their_order() {
        long large = Float.floatToRawIntBits(1e8f);
        long minus = Float.floatToRawIntBits(-1e8f);
        long one = Float.floatToRawIntBits(1);
        assertThat(reduced(Reduce.FLOAT32, Reduce.SUM, large, one, minus, one)).isEqualTo(one);
        assertThat(reduced(Reduce.FLOAT32, Reduce.SUM, large, minus, one, one)).isEqualTo(Float.floatToRawIntBits(2));
    }

    @Test
    void integers_wrap_around_and_their_averages_are_truncated() {
        assertThat(reduced(Reduce.INT8, Reduce.SUM, 127, 1)).isEqualTo(0x80);
        assertThat(reduced(Reduce.INT8, Reduce.AVERAGE, -3 & 0xff, -4 & 0xff)).isEqualTo(-3 & 0xff);
        assertThat(reduced(Reduce.UINT8, Reduce.AVERAGE, 200, 100)).isEqualTo(22);
        assertThat(reduced(Reduce.UINT64, Reduce.AVERAGE, -2, 0)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void streaming_gives_the_same_bytes_without_those_around() {
        int count = (1 << 20) + 3;
        for (int variant : variants()) {
            assertThat(Reduce.use(variant)).isZero();
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment first = operand(arena, Reduce.FLOAT32, count, 4);
                MemorySegment second = operand(arena, Reduce.FLOAT32, count, 1);
                for (int offset : new int[] {0, 4, 3}) {
                    MemorySegment plain = arena.allocate(4L * count + 192, 64);
                    MemorySegment streamed = arena.allocate(4L * count + 192, 64);
                    for (MemorySegment target : List.of(plain, streamed)) {
                        target.fill((byte) 0x5a);
                        Reduce.combine(
                                Reduce.FLOAT32,
                                Reduce.SUM,
                                target.address() + 64 + offset,
                                first.address(),
                                second.address(),
                                count,
                                target == streamed);
                    }
                    assertThat(streamed.mismatch(plain)).isEqualTo(-1);
                    assertThat(streamed.get(ValueLayout.JAVA_BYTE, 63 + offset)).isEqualTo((byte) 0x5a);
                    assertThat(streamed.get(ValueLayout.JAVA_BYTE, 64 + offset + 4L * count))
                            .isEqualTo((byte) 0x5a);
                }
            }
        }
        assertThat(Reduce.streamedFrom()).isPositive();
    }

    @ParameterizedTest
    @ValueSource(ints = {Reduce.INT8, Reduce.INT64, Reduce.FLOAT16, Reduce.FLOAT32})
    void segments_are_reduced_as_addresses_are(int type) {
        int count = 333;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment first = operand(arena, type, count, 0);
            MemorySegment second = operand(arena, type, count, 0);
            MemorySegment expected = arena.allocate(bytes(type, count));
            MemorySegment found = arena.allocate(bytes(type, count) + 5);
            for (int operation : new int[] {Reduce.SUM, Reduce.PRODUCT, Reduce.MIN, Reduce.MAX}) {
                Reduce.combine(type, operation, expected.address(), first.address(), second.address(), count, false);
                Reduce.combine(type, operation, found, 5, first, 0, second, 0, count);
                assertThat(found.asSlice(5).mismatch(expected)).isEqualTo(-1);
            }
            Reduce.divide(type, expected.address(), expected.address(), 3, count, false);
            Reduce.divide(type, found, 5, 3, count);
            assertThat(found.asSlice(5).mismatch(expected)).isEqualTo(-1);
        }
    }

    @Test
    void segments_are_checked() {
        MemorySegment closed;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(16);
            closed = memory;
            refused(() -> Reduce.combine(10, Reduce.SUM, memory, 0, memory, 0, memory, 0, 1));
            refused(() -> Reduce.combine(Reduce.INT8, Reduce.AVERAGE, memory, 0, memory, 0, memory, 0, 1));
            refused(() -> Reduce.combine(Reduce.INT8, Reduce.SUM, memory.asReadOnly(), 0, memory, 0, memory, 0, 1));
            refused(() -> Reduce.divide(Reduce.INT8, memory, 0, 0, 1));
            refused(() -> Reduce.divide(Reduce.INT8, MemorySegment.ofArray(new byte[1]), 0, 1, 1));
            assertThatThrownBy(() -> Reduce.combine(Reduce.INT64, Reduce.SUM, memory, 0, memory, 9, memory, 0, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> Reduce.divide(Reduce.INT64, memory, 8, 1, 2))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThatThrownBy(() -> Reduce.divide(Reduce.INT8, closed, 0, 1, 1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void numbers_out_of_range_are_refused() {
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(64).address();
            long table = table(arena, at, at);
            Reduce.combine(Reduce.FLOAT64, Reduce.MAX, at, at, at, 1, false);
            refused(() -> Reduce.combine(-1, Reduce.SUM, at, at, at, 1, false));
            refused(() -> Reduce.combine(10, Reduce.SUM, at, at, at, 1, false));
            refused(() -> Reduce.combine(Reduce.INT8, -1, at, at, at, 1, false));
            refused(() -> Reduce.combine(Reduce.INT8, Reduce.AVERAGE, at, at, at, 1, false));
            refused(() -> Reduce.combine(Reduce.INT8, 5, at, at, at, 1, false));
            refused(() -> Reduce.combine(Reduce.INT8, Reduce.SUM, at, at, at, -1, false));
            refused(() -> Reduce.combineAll(Reduce.INT8, Reduce.AVERAGE, at, table, 2, 1, false));
            refused(() -> Reduce.combineAll(Reduce.INT8, Reduce.SUM, at, table, 0, 1, false));
            refused(() -> Reduce.combineAll(Reduce.INT8, Reduce.SUM, at, table, 65, 1, false));
            refused(() -> Reduce.average(Reduce.INT8, at, at, at, 0, 1, false));
            refused(() -> Reduce.averageAll(Reduce.INT8, at, table, 2, (1 << 24) + 1, 1, false));
            refused(() -> Reduce.divide(Reduce.INT8, at, at, -1, 1, false));
            assertThat(Reduce.use(-1)).isNegative();
            assertThat(Reduce.use(Reduce.AVX512 + 1)).isNegative();
        }
    }

    private static void refused(Runnable call) {
        assertThatThrownBy(call::run).isInstanceOf(IllegalArgumentException.class);
    }

    /** Every variant and way to call it, with the target apart and in place. */
    private void check(int type, int operation, int operands, int count) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment[] sources = new MemorySegment[operands];
            for (int i = 0; i < operands; i++) {
                sources[i] = operand(arena, type, count, i % 5);
            }
            long[] expected = new long[count];
            long[] elements = new long[operands];
            for (int i = 0; i < count; i++) {
                for (int j = 0; j < operands; j++) {
                    elements[j] = get(sources[j], type, i);
                }
                expected[i] = ReduceReference.reduce(type, operation, elements, operands);
            }
            MemorySegment target = arena.allocate(bytes(type, count) + 3);
            MemorySegment saved = arena.allocate(bytes(type, count));
            MemorySegment last = sources[operands - 1];
            saved.copyFrom(last);
            for (int variant : variants()) {
                assertThat(Reduce.use(variant)).isZero();
                for (int way = 0; way < 3; way++) {
                    MemorySegment to = way < 2 ? target.asSlice(3 * way, bytes(type, count)) : last;
                    call(arena, type, operation, to, sources, count, way == 1);
                    compare(type, operation, operands, variant, to, expected, way);
                }
                last.copyFrom(saved);
            }
        }
    }

    private static void call(
            Arena arena,
            int type,
            int operation,
            MemorySegment target,
            MemorySegment[] sources,
            int count,
            boolean byTable) {
        long to = target.address();
        long first = sources[0].address();
        int operands = sources.length;
        if (operands == 1 && operation == Reduce.AVERAGE && !byTable) {
            Reduce.divide(type, to, first, 1, count, false);
        } else if (operands == 2 && !byTable) {
            long second = sources[1].address();
            if (operation == Reduce.AVERAGE) {
                Reduce.average(type, to, first, second, 2, count, true);
            } else {
                Reduce.combine(type, operation, to, first, second, count, true);
            }
        } else {
            long table = table(
                    arena,
                    Arrays.stream(sources).mapToLong(MemorySegment::address).toArray());
            if (operation == Reduce.AVERAGE) {
                Reduce.averageAll(type, to, table, operands, operands, count, false);
            } else {
                Reduce.combineAll(type, operation, to, table, operands, count, false);
            }
        }
    }

    private static void compare(
            int type, int operation, int operands, int variant, MemorySegment actual, long[] expected, int way) {
        for (int i = 0; i < expected.length; i++) {
            if (get(actual, type, i) != expected[i]) {
                assertThat(Long.toHexString(get(actual, type, i)))
                        .as(
                                "type %d, operation %d, %d operands, variant %d, way %d, element %d of %d",
                                type, operation, operands, variant, way, i, expected.length)
                        .isEqualTo(Long.toHexString(expected[i]));
            }
        }
    }

    /** One element, by the best variant. */
    private static long reduced(int type, int operation, long... elements) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment[] sources = new MemorySegment[elements.length];
            for (int i = 0; i < elements.length; i++) {
                sources[i] = arena.allocate(bytes(type, 1));
                set(sources[i], type, 0, elements[i]);
            }
            MemorySegment target = arena.allocate(bytes(type, 1));
            call(arena, type, operation, target, sources, 1, true);
            return get(target, type, 0);
        }
    }

    /** Those that this processor has. */
    private static List<Integer> variants() {
        List<Integer> variants = new ArrayList<>();
        for (int variant = Reduce.PLAIN; variant <= Reduce.AVX512; variant++) {
            if (Reduce.use(variant) == 0) {
                variants.add(variant);
            }
        }
        return variants;
    }

    private static long table(Arena arena, long... addresses) {
        return arena.allocateFrom(ValueLayout.JAVA_LONG, addresses).address();
    }

    private MemorySegment operand(Arena arena, int type, int count, int offset) {
        MemorySegment operand = arena.allocate(bytes(type, count) + offset, 64).asSlice(offset);
        for (int i = 0; i < count; i++) {
            set(operand, type, i, ReduceReference.random(type, random));
        }
        return operand;
    }

    private static long bytes(int type, int count) {
        return (long) count * ReduceReference.bits(type) / Byte.SIZE;
    }

    private static long get(MemorySegment array, int type, int index) {
        return switch (ReduceReference.bits(type)) {
            case Byte.SIZE -> Byte.toUnsignedLong(array.get(ValueLayout.JAVA_BYTE, index));
            case Short.SIZE -> Short.toUnsignedLong(array.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * index));
            case Integer.SIZE -> Integer.toUnsignedLong(array.get(ValueLayout.JAVA_INT_UNALIGNED, 4L * index));
            default -> array.get(ValueLayout.JAVA_LONG_UNALIGNED, 8L * index);
        };
    }

    private static void set(MemorySegment array, int type, int index, long bits) {
        switch (ReduceReference.bits(type)) {
            case Byte.SIZE -> array.set(ValueLayout.JAVA_BYTE, index, (byte) bits);
            case Short.SIZE -> array.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * index, (short) bits);
            case Integer.SIZE -> array.set(ValueLayout.JAVA_INT_UNALIGNED, 4L * index, (int) bits);
            default -> array.set(ValueLayout.JAVA_LONG_UNALIGNED, 8L * index, bits);
        }
    }
}
