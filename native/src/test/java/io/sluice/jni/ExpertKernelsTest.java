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
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExpertKernelsTest {
    private static final int GROUP = ExpertKernels.GROUP;
    private static final byte UNTOUCHED = 0x5a;

    private final int best = Reduce.variant();
    private final Random random = new Random(28);

    @AfterEach
    void useTheBest() {
        assertThat(Reduce.use(best)).isZero();
    }

    /** Those that this processor has. */
    static List<Integer> variants() {
        List<Integer> variants = new ArrayList<>();
        for (int variant = Reduce.PLAIN; variant <= Reduce.AVX512; variant++) {
            if (Reduce.use(variant) == 0) {
                variants.add(variant);
            }
        }
        return variants;
    }

    @ParameterizedTest
    @ValueSource(ints = {ExpertKernels.EXACT, ExpertKernels.ROUNDED, ExpertKernels.PACKED})
    void codes_and_scales_of_all_finite_values_are_those_of_the_reference(int form) {
        int[] all = IntStream.range(0, 1 << 16)
                .filter(bits -> (bits & 0x7fff) < 0x7f80)
                .toArray();
        // each group within one exponent; then the order of the mantissas, so that every exponent meets in a group
        checkQuantized(all, form, GROUP * 10);
        int[] mixed = IntStream.range(0, all.length)
                .map(i -> all[(int) ((long) i * 257 % all.length)])
                .toArray();
        checkQuantized(mixed, form, GROUP * 255);
        // groups whose values are within some powers of two of the greatest
        int[] near = new int[GROUP * 255];
        for (int i = 0; i < near.length; i++) {
            int exponent = Math.max(0, i / GROUP - random.nextInt(20));
            near[i] = exponent << 7 | random.nextInt(128) | random.nextInt(2) << 15;
        }
        checkQuantized(near, form, GROUP * 5);
    }

    @ParameterizedTest
    @ValueSource(ints = {ExpertKernels.EXACT, ExpertKernels.ROUNDED, ExpertKernels.PACKED})
    void a_nan_has_its_code_and_an_infinity_takes_its_group_along(int form) {
        int[] values = ExpertReference.normal(random, GROUP * 6, 3);
        values[5] = 0x7fc1;
        values[GROUP + 7] = 0xff80;
        values[GROUP + 9] = 0x8000;
        Arrays.fill(values, 2 * GROUP, 3 * GROUP, 0xffff);
        Arrays.fill(values, 3 * GROUP, 4 * GROUP, 0x8000);
        values[4 * GROUP] = 0x7f80;
        values[4 * GROUP + 1] = 0x7f81;
        checkQuantized(values, form, GROUP * 3);
    }

    @Test
    void normal_values_come_back_within_the_known_error() {
        int hidden = 7168;
        int rows = 8;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(2L * hidden * rows);
            ExpertReference.write(from, 0, ExpertReference.normal(random, hidden * rows, 1));
            MemorySegment codes = arena.allocate((long) hidden * rows);
            MemorySegment scales = arena.allocate(4L * hidden / GROUP * rows);
            MemorySegment back = arena.allocate(4L * hidden * rows);
            for (int form : new int[] {ExpertKernels.EXACT, ExpertKernels.ROUNDED}) {
                ExpertKernels.quantize(
                        codes, 0, hidden, scales, 0, 4, 4L * rows, from, 0, 2L * hidden, form, hidden, 0, rows);
                ExpertKernels.dequantize(
                        back,
                        0,
                        4L * hidden,
                        ExpertKernels.FLOAT32,
                        codes,
                        0,
                        hidden,
                        scales,
                        0,
                        4,
                        4L * rows,
                        form,
                        hidden,
                        0,
                        rows);
                double error = 0;
                double norm = 0;
                for (int i = 0; i < hidden * rows; i++) {
                    double value = ExpertReference.bfloat16(from.getAtIndex(ValueLayout.JAVA_SHORT, i));
                    double difference = back.getAtIndex(ValueLayout.JAVA_FLOAT, i) - value;
                    error += difference * difference;
                    norm += value * value;
                }
                assertThat(Math.sqrt(error / norm)).as("form %d", form).isBetween(2.4e-2, 2.8e-2);
            }
        }
    }

    @Test
    void every_code_has_its_value() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment codes = arena.allocate(256);
            for (int i = 0; i < 256; i++) {
                codes.set(ValueLayout.JAVA_BYTE, i, (byte) i);
            }
            float[] inverses = {1, 1e-4f / 448, 3.3f, Float.POSITIVE_INFINITY};
            MemorySegment back = arena.allocate(4 * 256);
            for (float inverse : inverses) {
                MemorySegment scales = arena.allocateFrom(ValueLayout.JAVA_FLOAT, inverse, inverse);
                for (int form : new int[] {ExpertKernels.FLOAT32, ExpertKernels.BFLOAT16}) {
                    ExpertKernels.dequantize(
                            back, 0, 4 * 256, form, codes, 0, 256, scales, 0, 8, 4, ExpertKernels.EXACT, 256, 0, 1);
                    for (int i = 0; i < 256; i++) {
                        float expected = ExpertReference.value(i, inverse);
                        if (form == ExpertKernels.FLOAT32) {
                            assertThat(Float.floatToIntBits(back.getAtIndex(ValueLayout.JAVA_FLOAT, i)))
                                    .isEqualTo(Float.floatToIntBits(expected));
                        } else {
                            assertThat(Short.toUnsignedLong(back.getAtIndex(ValueLayout.JAVA_SHORT, i)))
                                    .isEqualTo(ReduceReference.bfloat16(expected));
                        }
                    }
                }
            }
            MemorySegment packed = arena.allocateFrom(ValueLayout.JAVA_INT, 129 | 255 << 8);
            ExpertKernels.dequantize(
                    back,
                    0,
                    4 * 256,
                    ExpertKernels.FLOAT32,
                    codes,
                    0,
                    256,
                    packed,
                    0,
                    4,
                    4,
                    ExpertKernels.PACKED,
                    256,
                    0,
                    1);
            assertThat(back.getAtIndex(ValueLayout.JAVA_FLOAT, 0x38)).isEqualTo(4);
            assertThat(back.getAtIndex(ValueLayout.JAVA_FLOAT, 0xb8)).isEqualTo(Float.NEGATIVE_INFINITY);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {ExpertKernels.NONE, ExpertKernels.EXACT, ExpertKernels.ROUNDED})
    void messages_are_packed_and_unpacked_in_slices(int scales) {
        int hidden = 3 * GROUP;
        int rows = 7;
        long message = ExpertKernels.messageBytes(scales, hidden);
        long stride = message + 3;
        int payload = scales == ExpertKernels.NONE ? 2 * hidden : hidden;
        assertThat(message).isEqualTo(16 + payload + (scales == ExpertKernels.NONE ? 0 : 12));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(2L * hidden * rows + 1);
            ExpertReference.write(from, 1, ExpertReference.normal(random, hidden * rows, 5));
            MemorySegment codes = arena.allocate((long) hidden * rows);
            MemorySegment columns = arena.allocate(12L * rows);
            if (scales != ExpertKernels.NONE) {
                ExpertKernels.quantize(
                        codes, 0, hidden, columns, 0, 12, 4, from, 1, 2L * hidden, scales, hidden, 0, rows);
            }
            MemorySegment messages = arena.allocate(1 + rows * stride);
            messages.fill(UNTOUCHED);
            ExpertKernels.pack(messages, 1, stride, from, 1, 2L * hidden, scales, hidden, 0, 2);
            ExpertKernels.pack(messages, 1, stride, from, 1, 2L * hidden, scales, hidden, 2, rows - 2);
            for (int i = 0; i < rows; i++) {
                long at = 1 + i * stride;
                assertThat(messages.get(ValueLayout.JAVA_INT_UNALIGNED, at)).isEqualTo(i);
                assertThat(messages.asSlice(at + 4, 12).mismatch(arena.allocate(12)))
                        .isEqualTo(-1);
                MemorySegment expected = scales == ExpertKernels.NONE
                        ? from.asSlice(1 + 2L * hidden * i, 2L * hidden)
                        : codes.asSlice((long) hidden * i, hidden);
                assertThat(messages.asSlice(at + 16, payload).mismatch(expected))
                        .isEqualTo(-1);
                if (scales != ExpertKernels.NONE) {
                    assertThat(messages.asSlice(at + 16 + payload, 12).mismatch(columns.asSlice(12L * i, 12)))
                            .isEqualTo(-1);
                }
                assertThat(messages.asSlice(at + message, 3)).satisfies(ExpertKernelsTest::isUntouched);
            }
            for (boolean pastCaches : new boolean[] {false, true}) {
                checkUnpacked(arena, messages, stride, scales, hidden, rows, pastCaches);
            }
        }
    }

    private void checkUnpacked(
            Arena arena, MemorySegment messages, long stride, int scales, int hidden, int rows, boolean pastCaches) {
        int payload = scales == ExpertKernels.NONE ? 2 * hidden : hidden;
        int[] order = {3, 0, -1, 6, 6, 2};
        MemorySegment indices = arena.allocate(4L * order.length + 1);
        for (int i = 0; i < order.length; i++) {
            indices.set(ValueLayout.JAVA_INT_UNALIGNED, 1 + 4L * i, order[i]);
        }
        MemorySegment to = untouched(arena, 3 + (long) order.length * payload + 1);
        MemorySegment columns = untouched(arena, 12L * order.length);
        MemorySegment packed = untouched(arena, 4L * order.length);
        MemorySegment tokens = untouched(arena, 4L * order.length);
        for (int first = 0; first < order.length; first += 4) {
            int count = Math.min(4, order.length - first);
            ExpertKernels.unpack(
                    to,
                    3,
                    payload,
                    scales == ExpertKernels.NONE ? null : columns,
                    0,
                    4,
                    4L * order.length,
                    tokens,
                    0,
                    messages,
                    1,
                    stride,
                    indices,
                    1,
                    scales,
                    hidden,
                    first,
                    count,
                    pastCaches);
            if (scales == ExpertKernels.ROUNDED) {
                ExpertKernels.unpack(
                        to,
                        3,
                        payload,
                        packed,
                        0,
                        4,
                        4L * order.length,
                        tokens,
                        0,
                        messages,
                        1,
                        stride,
                        indices,
                        1,
                        ExpertKernels.PACKED,
                        hidden,
                        first,
                        count,
                        pastCaches);
            }
        }
        for (int i = 0; i < order.length; i++) {
            MemorySegment row = to.asSlice(3 + (long) i * payload, payload);
            if (order[i] < 0) {
                assertThat(row).satisfies(ExpertKernelsTest::isUntouched);
                assertThat(tokens.asSlice(4L * i, 4)).satisfies(ExpertKernelsTest::isUntouched);
                continue;
            }
            long at = 1 + order[i] * stride + 16;
            assertThat(row.mismatch(messages.asSlice(at, payload))).isEqualTo(-1);
            assertThat(tokens.getAtIndex(ValueLayout.JAVA_INT, i)).isEqualTo(order[i]);
            for (int group = 0; group < hidden / GROUP && scales != ExpertKernels.NONE; group++) {
                int expected = messages.get(ValueLayout.JAVA_INT_UNALIGNED, at + payload + 4L * group);
                assertThat(columns.getAtIndex(ValueLayout.JAVA_INT, (long) group * order.length + i))
                        .isEqualTo(expected);
                if (scales == ExpertKernels.ROUNDED) {
                    assertThat(packed.getAtIndex(ValueLayout.JAVA_INT, i) >>> 8 * group & 0xff)
                            .isEqualTo(expected >>> 23);
                }
            }
        }
        assertThat(to.asSlice(0, 3)).satisfies(ExpertKernelsTest::isUntouched);
        assertThat(to.asSlice(to.byteSize() - 1)).satisfies(ExpertKernelsTest::isUntouched);
        // without indices, rows are messages
        ExpertKernels.unpack(
                to,
                3,
                payload,
                columns,
                0,
                4,
                4L * order.length,
                tokens,
                0,
                messages,
                1,
                stride,
                null,
                0,
                scales,
                hidden,
                1,
                2,
                pastCaches);
        assertThat(to.asSlice(3 + payload, payload).mismatch(messages.asSlice(1 + stride + 16, payload)))
                .isEqualTo(-1);
        assertThat(tokens.getAtIndex(ValueLayout.JAVA_INT, 2)).isEqualTo(2);
        indices.set(ValueLayout.JAVA_INT_UNALIGNED, 1 + 4L, rows);
        assertThatThrownBy(() -> ExpertKernels.unpack(
                        to,
                        3,
                        payload,
                        columns,
                        0,
                        4,
                        4L * order.length,
                        tokens,
                        0,
                        messages,
                        1,
                        stride,
                        indices,
                        1,
                        scales,
                        hidden,
                        0,
                        2,
                        pastCaches))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 63, 64, 255, 512, 4_099, 14_352, 70_000})
    void rows_are_copied_by_tables(long bytes) {
        int rows = 9;
        long stride = bytes + 5;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(rows * stride + 2);
            for (long i = 0; i < from.byteSize(); i++) {
                from.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
            }
            int[] fromOrder = {8, -1, 0, 5, 5, 1, 2};
            int[] toOrder = {0, 1, 2, 8, -1, 3, 7};
            MemorySegment fromIndices = arena.allocateFrom(ValueLayout.JAVA_INT, fromOrder);
            MemorySegment toIndices = arena.allocateFrom(ValueLayout.JAVA_INT, toOrder);
            MemorySegment addresses = arena.allocate(8L * rows);
            for (int i = 0; i < rows; i++) {
                addresses.setAtIndex(
                        ValueLayout.JAVA_LONG, i, i == 4 ? 0 : from.address() + 2 + (rows - 1 - i) * stride);
            }
            for (boolean pastCaches : new boolean[] {false, true}) {
                for (int offset = 1; offset < 64; offset += 31) {
                    MemorySegment to = untouched(arena, offset + rows * stride);
                    ExpertKernels.copyRows(
                            to, offset, stride, toIndices, 0, from, 2, stride, fromIndices, 0, bytes, 0, 3, pastCaches);
                    ExpertKernels.copyRows(
                            to, offset, stride, toIndices, 0, from, 2, stride, fromIndices, 0, bytes, 3, 4, pastCaches);
                    int[] expected = {8, -1, 0, 1, -1, -1, -1, 2, 5};
                    checkRows(to, offset, from, stride, bytes, expected);
                    to.fill(UNTOUCHED);
                    ExpertKernels.copyRows(
                            to, offset, stride, null, 0, from, 2, stride, null, 0, bytes, 1, 3, pastCaches);
                    checkRows(to, offset, from, stride, bytes, new int[] {-1, 1, 2, 3, -1, -1, -1, -1, -1});
                    to.fill(UNTOUCHED);
                    ExpertKernels.gather(to, offset, stride, addresses, 0, bytes, 2, rows - 2, pastCaches);
                    checkRows(to, offset, from, stride, bytes, new int[] {-1, -1, 6, 5, -1, 3, 2, 1, 0});
                }
            }
        }
    }

    private static void checkRows(
            MemorySegment to, long offset, MemorySegment from, long stride, long bytes, int[] rows) {
        isUntouched(to.asSlice(0, offset));
        for (int i = 0; i < rows.length; i++) {
            MemorySegment row = to.asSlice(offset + i * stride, stride);
            if (rows[i] < 0) {
                isUntouched(row);
            } else {
                assertThat(row.asSlice(0, bytes).mismatch(from.asSlice(2 + rows[i] * stride, bytes)))
                        .as("row %d of %d bytes", i, bytes)
                        .isEqualTo(-1);
                isUntouched(row.asSlice(bytes));
            }
        }
    }

    @Test
    void rows_beyond_their_segments_and_numbers_out_of_range_are_refused() {
        MemorySegment closed;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment rows = arena.allocate(1024);
            MemorySegment to = arena.allocate(1024);
            closed = rows;
            MemorySegment beyond = arena.allocateFrom(ValueLayout.JAVA_INT, 0, 8, 1);
            ExpertKernels.pack(to, 0, 272, rows, 0, 256, ExpertKernels.NONE, GROUP, 0, 3);
            outside(() -> ExpertKernels.pack(to, 0, 272, rows, 0, 256, ExpertKernels.NONE, GROUP, 0, 4));
            outside(() -> ExpertKernels.pack(to, 209, 272, rows, 0, 256, ExpertKernels.NONE, GROUP, 2, 1));
            outside(() -> ExpertKernels.pack(to, -1, 272, rows, 0, 256, ExpertKernels.NONE, GROUP, 0, 1));
            outside(() -> ExpertKernels.pack(to, 0, 272, rows, 0, 256, ExpertKernels.NONE, GROUP, -1, 1));
            outside(() -> ExpertKernels.pack(to, 0, 272, rows, 0, 256, ExpertKernels.NONE, GROUP, 0, -1));
            outside(() -> ExpertKernels.pack(
                    to, 0, Long.MAX_VALUE, rows, 0, 256, ExpertKernels.NONE, GROUP, Integer.MAX_VALUE - 2, 1));
            refused(() -> ExpertKernels.pack(to, 0, 272, rows, 0, -256, ExpertKernels.NONE, GROUP, 0, 1));
            refused(() -> ExpertKernels.pack(to, 0, 272, rows, 0, 256, ExpertKernels.PACKED, GROUP, 0, 1));
            refused(() -> ExpertKernels.pack(to, 0, 272, rows, 0, 256, 4, GROUP, 0, 1));
            refused(() -> ExpertKernels.pack(to, 0, 272, rows, 0, 256, ExpertKernels.NONE, 64, 0, 1));
            refused(() -> ExpertKernels.pack(to, 0, 272, rows, 0, 256, ExpertKernels.NONE, 0, 0, 1));
            refused(() -> ExpertKernels.pack(to, 0, 272, rows, 0, 256, ExpertKernels.NONE, (1 << 20) + 128, 0, 1));
            refused(() -> ExpertKernels.pack(to.asReadOnly(), 0, 272, rows, 0, 256, ExpertKernels.NONE, GROUP, 0, 1));
            refused(() -> ExpertKernels.pack(
                    to, 0, 272, MemorySegment.ofArray(new short[GROUP]), 0, 256, ExpertKernels.NONE, GROUP, 0, 1));
            outside(() ->
                    ExpertKernels.quantize(to, 0, 128, to, 1020, 4, 4, rows, 0, 256, ExpertKernels.EXACT, GROUP, 0, 2));
            outside(() -> ExpertKernels.quantize(
                    to, 0, 256, to, 1020, 4, 4, rows, 0, 512, ExpertKernels.EXACT, 2 * GROUP, 0, 1));
            outside(() -> ExpertKernels.quantize(
                    to, 0, 256, to, 0, 4, Long.MAX_VALUE, rows, 0, 512, ExpertKernels.EXACT, 2 * GROUP, 0, 1));
            refused(() ->
                    ExpertKernels.quantize(to, 0, 128, to, 1020, 4, 4, rows, 0, 256, ExpertKernels.NONE, GROUP, 0, 1));
            refused(() -> ExpertKernels.dequantize(
                    to, 0, 512, ExpertKernels.LOGFMT, rows, 0, 128, rows, 0, 4, 4, 0, GROUP, 0, 1));
            outside(() -> ExpertKernels.dequantize(
                    to, 0, 512, ExpertKernels.FLOAT32, rows, 0, 128, rows, 0, 4, 4, 0, GROUP, 0, 3));
            outside(() -> ExpertKernels.copyRows(to, 0, 128, null, 0, rows, 0, 128, beyond, 0, 128, 0, 3, false));
            outside(() -> ExpertKernels.copyRows(to, 0, 128, beyond, 0, rows, 0, 128, null, 0, 128, 0, 3, false));
            outside(() -> ExpertKernels.copyRows(to, 0, 128, null, 0, rows, 0, 128, null, 0, 128, 7, 2, false));
            outside(() -> ExpertKernels.copyRows(to, 0, 128, null, 0, rows, 0, 128, beyond, 0, 128, 0, 4, false));
            outside(() -> ExpertKernels.copyRows(to, 1025, 128, null, 0, rows, 0, 128, null, 0, 0, 0, 1, false));
            refused(() -> ExpertKernels.copyRows(to, 0, 0, null, 0, rows, 0, 128, null, 0, 128, 0, 1, false));
            outside(() -> ExpertKernels.gather(to, 0, 128, rows, 1020, 128, 0, 1, false));
            outside(() -> ExpertKernels.gather(to, 0, 128, rows, 0, Long.MAX_VALUE, 0, 2, false));
        }
        assertThatThrownBy(() -> ExpertKernels.copyRows(closed, 0, 8, null, 0, closed, 512, 8, null, 0, 8, 0, 1, false))
                .isInstanceOf(IllegalStateException.class);
    }

    private static void outside(Runnable call) {
        assertThatThrownBy(call::run).isInstanceOf(IndexOutOfBoundsException.class);
    }

    private static void refused(Runnable call) {
        assertThatThrownBy(call::run).isInstanceOf(IllegalArgumentException.class);
    }

    /** By every variant, with the scales in columns and nothing aligned. */
    private static void checkQuantized(int[] values, int form, int hidden) {
        int rows = values.length / hidden;
        int groups = hidden / GROUP;
        int columns = form == ExpertKernels.PACKED ? (groups + 3) / 4 : groups;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(2L * values.length + 1);
            ExpertReference.write(from, 1, values);
            MemorySegment expected = null;
            MemorySegment expectedScales = null;
            for (int variant : variants()) {
                assertThat(Reduce.use(variant)).isZero();
                MemorySegment codes = untouched(arena, 3 + (long) rows * (hidden + 1));
                MemorySegment scales = untouched(arena, 1 + 4L * rows * columns);
                ExpertKernels.quantize(
                        codes, 3, hidden + 1L, scales, 1, 4, 4L * rows, from, 1, 2L * hidden, form, hidden, 0, rows);
                if (expected == null || expectedScales == null) {
                    compare(values, form, hidden, codes, scales);
                    expected = codes;
                    expectedScales = scales;
                }
                assertThat(codes.mismatch(expected)).as("variant %d", variant).isEqualTo(-1);
                assertThat(scales.mismatch(expectedScales))
                        .as("variant %d", variant)
                        .isEqualTo(-1);
            }
        }
    }

    private static void compare(int[] values, int form, int hidden, MemorySegment codes, MemorySegment scales) {
        int rows = values.length / hidden;
        int groups = hidden / GROUP;
        for (int row = 0; row < rows; row++) {
            for (int g = 0; g < groups; g++) {
                int begin = row * hidden + g * GROUP;
                int[] group = Arrays.copyOfRange(values, begin, begin + GROUP);
                int inverse = Float.floatToIntBits(ExpertReference.inverse(group, form));
                int column = form == ExpertKernels.PACKED ? g / 4 : g;
                int found = scales.get(ValueLayout.JAVA_INT_UNALIGNED, 1 + 4L * ((long) column * rows + row));
                if (form == ExpertKernels.PACKED) {
                    assertThat(found >>> g % 4 * 8 & 0xff).isEqualTo(inverse >>> 23);
                    if (g == groups - 1 && g % 4 < 3) {
                        assertThat(found >>> g % 4 * 8 + 8).isZero();
                    }
                } else {
                    assertThat(Integer.toHexString(found)).isEqualTo(Integer.toHexString(inverse));
                }
                for (int i = 0; i < GROUP; i++) {
                    int code = Byte.toUnsignedInt(
                            codes.get(ValueLayout.JAVA_BYTE, 3 + (long) row * (hidden + 1) + (long) g * GROUP + i));
                    if (code != ExpertReference.code(group[i], group, form)) {
                        assertThat(Integer.toHexString(code))
                                .as("value %x of a group with the inverse %x, form %d", group[i], inverse, form)
                                .isEqualTo(Integer.toHexString(ExpertReference.code(group[i], group, form)));
                    }
                }
            }
            assertThat(codes.get(ValueLayout.JAVA_BYTE, 3 + (long) row * (hidden + 1) + hidden))
                    .isEqualTo(UNTOUCHED);
        }
    }

    static MemorySegment untouched(Arena arena, long bytes) {
        return arena.allocate(bytes, 64).fill(UNTOUCHED);
    }

    static void isUntouched(MemorySegment memory) {
        for (long i = 0; i < memory.byteSize(); i++) {
            assertThat(memory.get(ValueLayout.JAVA_BYTE, i)).isEqualTo(UNTOUCHED);
        }
    }
}
