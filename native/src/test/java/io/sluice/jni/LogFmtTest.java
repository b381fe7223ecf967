package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogFmtTest {
    private static final int GROUP = ExpertKernels.GROUP;

    private final int best = Reduce.variant();
    private final Random random = new Random(30);

    @AfterEach
    void useTheBest() {
        assertThat(Reduce.use(best)).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {128, 384, 512, 640, 1536, 2048, 7168})
    void rows_are_encoded_and_decoded_as_the_reference_says(int hidden) {
        check(hidden, ExpertReference.normal(random, hidden * 3, 0.1));
        // sections that are encoded next to others that are not
        int[] mixed = ExpertReference.normal(random, hidden * 3, 0.3);
        check(hidden, mixed);
        int[] special = ExpertReference.normal(random, hidden * 3, 0.02);
        for (int i = 0; i < special.length; i += 1 + random.nextInt(300)) {
            special[i] = new int[] {0, 0x8000, 1, 0x8041, 0x0080, 0x0100, 0x3f7f}[random.nextInt(7)];
        }
        check(hidden, special);
        special[hidden / 2] = 0x7fc0;
        special[hidden + 1] = 0xff80;
        Arrays.fill(special, 2 * hidden, 2 * hidden + GROUP, 0);
        check(hidden, special);
    }

    @Test
    void a_group_may_have_any_extremes_below_one() {
        int hidden = 512;
        int[] values = new int[hidden * 40];
        for (int group = 0; group < values.length / GROUP; group++) {
            // 1 to 127 powers of two below it, or as little as a mantissa's last bit
            int greatest = 0x0081 + random.nextInt(0x3f80 - 0x0081);
            int span = group % 4 == 0 ? 1 + random.nextInt(4) : 1 + random.nextInt(greatest);
            for (int i = 0; i < GROUP; i++) {
                values[group * GROUP + i] = (greatest - random.nextInt(span + 1)) | random.nextInt(2) << 15;
            }
            values[group * GROUP] = greatest;
            values[group * GROUP + 1] = greatest - span;
        }
        check(hidden, values);
    }

    @Test
    void small_normal_values_come_back_within_the_known_error() {
        int hidden = 7168;
        int rows = 8;
        int[] values = ExpertReference.normal(random, hidden * rows, 0.1);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(2L * values.length);
            ExpertReference.write(from, 0, values);
            long stride = LogFmt.maxBytes(hidden);
            MemorySegment encoded = arena.allocate(stride * rows);
            MemorySegment sizes = arena.allocate(4L * rows);
            MemorySegment back = arena.allocate(2L * values.length);
            LogFmt.encode(encoded, 0, stride, sizes, 0, from, 0, 2L * hidden, hidden, 0, rows);
            LogFmt.decode(back, 0, 2L * hidden, ExpertKernels.BFLOAT16, encoded, 0, stride, hidden, 0, rows);
            double error = 0;
            double norm = 0;
            for (int i = 0; i < values.length; i++) {
                double value = ExpertReference.bfloat16(values[i]);
                double difference = ExpertReference.bfloat16(back.getAtIndex(ValueLayout.JAVA_SHORT, i)) - value;
                error += difference * difference;
                norm += value * value;
            }
            assertThat(Math.sqrt(error / norm)).isBetween(1e-3, 4.5e-3);
            assertThat(sizes.getAtIndex(ValueLayout.JAVA_INT, 0)).isEqualTo(4 * 56 + 56 * 160);
        }
    }

    @Test
    void weighted_sums_take_encoded_rows_as_they_are_decoded() {
        int hidden = 1536;
        int operands = 3;
        int tokens = 2;
        int slots = operands * tokens;
        int[] values = ExpertReference.normal(random, hidden * slots, 0.2);
        long stride = LogFmt.maxBytes(hidden);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(2L * values.length);
            ExpertReference.write(from, 0, values);
            MemorySegment encoded = arena.allocate(stride * slots);
            MemorySegment sizes = arena.allocate(4L * slots);
            LogFmt.encode(encoded, 0, stride, sizes, 0, from, 0, 2L * hidden, hidden, 0, slots);
            MemorySegment decoded = arena.allocate(4L * values.length);
            LogFmt.decode(decoded, 0, 4L * hidden, ExpertKernels.FLOAT32, encoded, 0, stride, hidden, 0, slots);
            MemorySegment choices = arena.allocateFrom(ValueLayout.JAVA_LONG, 7, -1, 2, 0, 0, 0);
            MemorySegment weights = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 0.3f, 9, 0.7f, 0.1f, 1.3f, -2.1f);
            MemorySegment addresses = arena.allocate(8L * slots);
            for (int i = 0; i < slots; i++) {
                addresses.setAtIndex(ValueLayout.JAVA_LONG, i, i == 1 ? 0 : encoded.address() + i * stride);
            }
            for (int variant : ExpertKernelsTest.variants()) {
                assertThat(Reduce.use(variant)).isZero();
                MemorySegment sums = arena.allocate(2L * hidden * tokens);
                MemorySegment at = arena.allocate(2L * hidden * tokens);
                ExpertSums.ofSlots(
                        sums,
                        0,
                        2L * hidden,
                        encoded,
                        0,
                        stride,
                        choices,
                        0,
                        weights,
                        0,
                        ExpertKernels.LOGFMT,
                        hidden,
                        operands,
                        0,
                        tokens);
                ExpertSums.at(
                        at,
                        0,
                        2L * hidden,
                        addresses,
                        0,
                        weights,
                        0,
                        null,
                        0,
                        0,
                        ExpertKernels.LOGFMT,
                        hidden,
                        operands,
                        0,
                        tokens);
                assertThat(at.mismatch(sums)).isEqualTo(-1);
                for (int i = 0; i < hidden * tokens; i++) {
                    float sum = 0;
                    for (int k = 0; k < operands; k++) {
                        int slot = i / hidden * operands + k;
                        if (slot != 1) {
                            float product = weights.getAtIndex(ValueLayout.JAVA_FLOAT, slot)
                                    * decoded.getAtIndex(ValueLayout.JAVA_FLOAT, (long) slot * hidden + i % hidden);
                            sum = sum + product;
                        }
                    }
                    assertThat(Short.toUnsignedLong(sums.getAtIndex(ValueLayout.JAVA_SHORT, i)))
                            .isEqualTo(ReduceReference.bfloat16(sum));
                }
            }
        }
    }

    @Test
    void any_bytes_are_decoded_without_leaving_the_row() {
        int hidden = 640;
        long stride = LogFmt.maxBytes(hidden);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment encoded = arena.allocate(stride);
            for (int round = 0; round < 200; round++) {
                for (long i = 0; i < stride; i++) {
                    encoded.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
                }
                for (int group = 0; group < hidden / GROUP && round % 2 == 0; group++) {
                    int greatest = 0x0080 + random.nextInt(0x3f00);
                    encoded.set(ValueLayout.JAVA_INT_UNALIGNED, 4L * group, greatest | random.nextInt(greatest) << 16);
                }
                MemorySegment expected = null;
                for (int variant : ExpertKernelsTest.variants()) {
                    assertThat(Reduce.use(variant)).isZero();
                    MemorySegment to = ExpertKernelsTest.untouched(arena, 2L * hidden + 1);
                    LogFmt.decode(to, 0, 2L * hidden, ExpertKernels.BFLOAT16, encoded, 0, stride, hidden, 0, 1);
                    expected = expected == null ? to : expected;
                    assertThat(to.mismatch(expected)).isEqualTo(-1);
                    ExpertKernelsTest.isUntouched(to.asSlice(2L * hidden));
                }
            }
        }
    }

    @Test
    void rows_beyond_their_segments_are_refused() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment rows = arena.allocate(512);
            MemorySegment encoded = arena.allocate(520);
            MemorySegment sizes = arena.allocate(8);
            LogFmt.encode(encoded, 0, 260, sizes, 0, rows, 0, 256, GROUP, 0, 2);
            outside(() -> LogFmt.encode(encoded, 1, 260, sizes, 0, rows, 0, 256, GROUP, 0, 2));
            outside(() -> LogFmt.encode(encoded, 0, 260, sizes, 1, rows, 0, 256, GROUP, 0, 2));
            outside(() -> LogFmt.encode(encoded, 0, 260, sizes, 0, rows, 0, 257, GROUP, 0, 2));
            outside(() -> LogFmt.decode(rows, 0, 256, ExpertKernels.BFLOAT16, encoded, 0, 261, GROUP, 0, 2));
            outside(() -> LogFmt.decode(rows, 0, 512, ExpertKernels.FLOAT32, encoded, 0, 260, GROUP, 0, 2));
            assertThatThrownBy(() -> LogFmt.decode(rows, 0, 512, ExpertKernels.LOGFMT, encoded, 0, 260, GROUP, 0, 1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> LogFmt.maxBytes(64)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static void outside(Runnable call) {
        assertThatThrownBy(call::run).isInstanceOf(IndexOutOfBoundsException.class);
    }

    /** By every variant, with nothing aligned. */
    private static void check(int hidden, int[] values) {
        int rows = values.length / hidden;
        long stride = LogFmt.maxBytes(hidden) + 1;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(2L * values.length + 1);
            ExpertReference.write(from, 1, values);
            MemorySegment expected = null;
            MemorySegment expectedBack = null;
            for (int variant : ExpertKernelsTest.variants()) {
                assertThat(Reduce.use(variant)).isZero();
                MemorySegment encoded = ExpertKernelsTest.untouched(arena, 3 + rows * stride);
                MemorySegment sizes = arena.allocate(4L * rows);
                LogFmt.encode(encoded, 3, stride, sizes, 0, from, 1, 2L * hidden, hidden, 0, rows);
                MemorySegment back = ExpertKernelsTest.untouched(arena, 1 + 4L * values.length);
                LogFmt.decode(back, 1, 4L * hidden, ExpertKernels.FLOAT32, encoded, 3, stride, hidden, 0, rows);
                MemorySegment narrow = ExpertKernelsTest.untouched(arena, 1 + 2L * values.length);
                LogFmt.decode(narrow, 1, 2L * hidden, ExpertKernels.BFLOAT16, encoded, 3, stride, hidden, 0, rows);
                if (expected == null || expectedBack == null) {
                    expected = encoded;
                    expectedBack = back;
                    for (int row = 0; row < rows; row++) {
                        int size = sizes.getAtIndex(ValueLayout.JAVA_INT, row);
                        long at = 3 + row * stride;
                        assertThat(checkRow(hidden, values, row, encoded, at, back, 1 + 4L * hidden * row))
                                .isEqualTo(size);
                        ExpertKernelsTest.isUntouched(encoded.asSlice(at + size, stride - size));
                    }
                }
                assertThat(encoded.mismatch(expected)).as("variant %d", variant).isEqualTo(-1);
                assertThat(back.mismatch(expectedBack))
                        .as("variant %d", variant)
                        .isEqualTo(-1);
                for (int i = 0; i < values.length; i++) {
                    assertThat(Short.toUnsignedLong(narrow.get(ValueLayout.JAVA_SHORT_UNALIGNED, 1 + 2L * i)))
                            .isEqualTo(
                                    ReduceReference.bfloat16(back.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 1 + 4L * i)));
                }
            }
        }
    }

    /** Returns the size of the row. */
    private static long checkRow(
            int hidden, int[] values, int row, MemorySegment encoded, long at, MemorySegment back, long backAt) {
        int section = hidden % 1024 == 0 ? 1024 : 512;
        long data = at + 4L * hidden / GROUP;
        for (int begin = 0; begin < hidden; begin += section) {
            int end = Math.min(begin + section, hidden);
            boolean isEncoded = true;
            for (int group = begin; group < end; group += GROUP) {
                int[] extremes = ExpertReference.extremes(groupOf(values, row * hidden + group));
                isEncoded &= ExpertReference.isEncoded(extremes);
                int found = encoded.get(ValueLayout.JAVA_INT_UNALIGNED, at + 4L * (group / GROUP));
                assertThat(found).isEqualTo(extremes[0] | extremes[1] << 16);
            }
            for (int group = begin; group < end; group += GROUP) {
                int[] original = groupOf(values, row * hidden + group);
                if (isEncoded) {
                    checkGroup(original, encoded, data, back, backAt + 4L * group);
                    data += GROUP * 10 / 8;
                } else {
                    assertThat(ExpertReference.read(encoded, data, GROUP)).isEqualTo(original);
                    data += 2 * GROUP;
                }
            }
        }
        return data - at;
    }

    private static int[] groupOf(int[] values, int begin) {
        return Arrays.copyOfRange(values, begin, begin + GROUP);
    }

    private static void checkGroup(int[] original, MemorySegment encoded, long data, MemorySegment back, long backAt) {
        int[] extremes = ExpertReference.extremes(original);
        double low = ExpertReference.low(extremes);
        double step = ExpertReference.step(extremes);
        // logarithms up to 126 in float32, so that small steps leave some codes open
        double logarithmError = (Math.abs(low) + 1) * Math.pow(2, -22);
        for (int i = 0; i < GROUP; i++) {
            long unit = data + i / 16 * 20;
            int code = ExpertReference.bits(encoded, unit, i % 16 * 9, 9);
            int sign = ExpertReference.bits(encoded, unit, 144 + i % 16, 1);
            assertThat(sign).isEqualTo(original[i] >>> 15);
            float value = ExpertReference.bfloat16(original[i]);
            double exact = ExpertReference.logCode(value, low, step);
            double open = logarithmError / step + 1e-3;
            assertThat((double) code).isBetween(Math.floor(exact - open), Math.floor(exact + open));
            int absolute = original[i] & 0x7fff;
            if (absolute == extremes[0]) {
                assertThat(code).isEqualTo(511);
            } else if (absolute == extremes[1] && absolute >= 0x0080 && ExpertReference.log2(Math.abs(value)) >= low) {
                assertThat(code).isEqualTo(1);
            }
            double decoded = ExpertReference.logValue(code, low, step);
            float found = back.get(ValueLayout.JAVA_FLOAT_UNALIGNED, backAt + 4L * i);
            assertThat(Math.abs(found))
                    .isCloseTo((float) decoded, within((float) (decoded * logarithmError) + Float.MIN_NORMAL));
            assertThat(Float.floatToRawIntBits(found) >>> 31).isEqualTo(sign);
        }
    }
}
