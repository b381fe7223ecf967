package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExpertSumsTest {
    private static final int GROUP = ExpertKernels.GROUP;

    private final int best = Reduce.variant();
    private final Random random = new Random(29);

    @AfterEach
    void useTheBest() {
        assertThat(Reduce.use(best)).isZero();
    }

    @ParameterizedTest
    @CsvSource({"1, 128", "2, 128", "2, 384", "3, 512", "8, 2048", "8, 7168", "128, 256"})
    void weighted_sums_have_the_bits_of_the_reference(int operands, int hidden) {
        int tokens = 5;
        for (int round = 0; round < 3; round++) {
            // of a middle size; then anything finite, whose sums overflow and cancel; then special values as well
            int[] values = round == 0
                    ? ExpertReference.normal(random, tokens * operands * hidden, 2)
                    : ExpertReference.finite(random, tokens * operands * hidden);
            for (int i = 0; i < values.length && round == 2; i += 1 + random.nextInt(50)) {
                values[i] = new int[] {0x7f80, 0xff80, 0x7fc0, 0x0001, 0x8000}[random.nextInt(5)];
            }
            float[] weights = new float[tokens * operands];
            boolean[] absent = new boolean[tokens * operands];
            for (int i = 0; i < weights.length; i++) {
                weights[i] = round == 2 && i % 7 == 6 ? Float.NaN : random.nextFloat();
                // the last token has no operand at all
                absent[i] = i / operands == tokens - 1 || random.nextInt(5) == 0;
            }
            check(operands, hidden, tokens, values, weights, absent);
        }
    }

    /** Every variant, by slots and by addresses, in two slices. */
    private static void check(int operands, int hidden, int tokens, int[] values, float[] weights, boolean[] absent) {
        long stride = 2L * hidden + 6;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(1 + stride * weights.length);
            MemorySegment choices = arena.allocate(8L * weights.length);
            MemorySegment addresses = arena.allocate(8L * weights.length);
            for (int i = 0; i < weights.length; i++) {
                for (int j = 0; j < hidden; j++) {
                    from.set(ValueLayout.JAVA_SHORT_UNALIGNED, 1 + i * stride + 2L * j, (short) values[i * hidden + j]);
                }
                choices.setAtIndex(ValueLayout.JAVA_LONG, i, absent[i] ? -1 : i);
                addresses.setAtIndex(ValueLayout.JAVA_LONG, i, absent[i] ? 0 : from.address() + 1 + i * stride);
            }
            MemorySegment weight = arena.allocateFrom(ValueLayout.JAVA_FLOAT, weights);
            for (int variant : ExpertKernelsTest.variants()) {
                assertThat(Reduce.use(variant)).isZero();
                MemorySegment slots = ExpertKernelsTest.untouched(arena, 3 + 2L * hidden * tokens + 1);
                MemorySegment at = ExpertKernelsTest.untouched(arena, 3 + 2L * hidden * tokens + 1);
                for (int first = 0; first < tokens; first += 3) {
                    int count = Math.min(3, tokens - first);
                    ExpertSums.ofSlots(
                            slots,
                            3,
                            2L * hidden,
                            from,
                            1,
                            stride,
                            choices,
                            0,
                            weight,
                            0,
                            ExpertKernels.BFLOAT16,
                            hidden,
                            operands,
                            first,
                            count);
                    ExpertSums.at(
                            at,
                            3,
                            2L * hidden,
                            addresses,
                            0,
                            weight,
                            0,
                            null,
                            0,
                            0,
                            ExpertKernels.BFLOAT16,
                            hidden,
                            operands,
                            first,
                            count);
                }
                assertThat(at.mismatch(slots)).isEqualTo(-1);
                ExpertKernelsTest.isUntouched(slots.asSlice(0, 3));
                ExpertKernelsTest.isUntouched(slots.asSlice(slots.byteSize() - 1));
                for (int token = 0; token < tokens; token++) {
                    compare(variant, slots, token, operands, hidden, values, weights, absent);
                }
            }
        }
    }

    private static void compare(
            int variant,
            MemorySegment sums,
            int token,
            int operands,
            int hidden,
            int[] values,
            float[] weights,
            boolean[] absent) {
        float[] weight = new float[operands];
        boolean[] none = new boolean[operands];
        int[] value = new int[operands];
        for (int j = 0; j < hidden; j++) {
            double exact = 0;
            double size = 0;
            for (int k = 0; k < operands; k++) {
                int slot = token * operands + k;
                weight[k] = weights[slot];
                none[k] = absent[slot];
                value[k] = values[slot * hidden + j];
                if (!none[k]) {
                    double product = (double) weight[k] * ExpertReference.bfloat16(value[k]);
                    exact += product;
                    size += Math.abs(product);
                }
            }
            int found = Short.toUnsignedInt(
                    sums.get(ValueLayout.JAVA_SHORT_UNALIGNED, 3 + 2L * ((long) token * hidden + j)));
            int expected = ExpertReference.sum(weight, value, none, -1);
            if (found != expected) {
                assertThat(Integer.toHexString(found))
                        .as("variant %d, token %d, channel %d of %d operands", variant, token, j, operands)
                        .isEqualTo(Integer.toHexString(expected));
            }
            if (size < 3e38) {
                double bound =
                        1.01 * (Math.abs(exact) / 256 + 2 * operands * Math.pow(2, -24) * size) + Math.pow(2, -133);
                assertThat(Math.abs(ExpertReference.bfloat16(found) - exact)).isLessThanOrEqualTo(bound);
            }
        }
    }

    @Test
    void operands_are_added_in_their_order_and_nothing_is_fused() {
        float large = Float.intBitsToFloat(0x4d000000);
        int one = 0x3f80;
        int big = Float.floatToIntBits(large) >>> 16;
        assertThat(sum(new float[] {1, 1, 1}, big, one, big | 0x8000)).isZero();
        assertThat(sum(new float[] {1, 1, 1}, big, big | 0x8000, one)).isEqualTo(one);
        // a fused sum would keep the 2^-30 that the product loses
        float weight = 1 + Math.ulp(1.0f) * 2049;
        int value = 0x3f81;
        float product = weight * ExpertReference.bfloat16(value);
        assertThat((double) product).isNotEqualTo((double) weight * ExpertReference.bfloat16(value));
        assertThat(sum(new float[] {-product, weight}, one, value)).isZero();
        // beginning at +0, -0 alone makes +0
        assertThat(sum(new float[] {1}, 0x8000)).isZero();
        // rounded once, at the end
        assertThat(sum(new float[] {1, 1, 1}, 0x4380, one, one)).isEqualTo(0x4381);
    }

    private static int sum(float[] weights, int... values) {
        int operands = values.length;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(2L * GROUP * operands);
            for (int i = 0; i < operands * GROUP; i++) {
                from.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) values[i / GROUP]);
            }
            MemorySegment to = arena.allocate(2L * GROUP);
            ExpertSums.ofSlots(
                    to,
                    0,
                    2 * GROUP,
                    from,
                    0,
                    2 * GROUP,
                    arena.allocate(8L * operands),
                    0,
                    arena.allocateFrom(ValueLayout.JAVA_FLOAT, weights),
                    0,
                    ExpertKernels.BFLOAT16,
                    GROUP,
                    operands,
                    0,
                    1);
            return Short.toUnsignedInt(to.getAtIndex(ValueLayout.JAVA_SHORT, GROUP - 1));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8, 200})
    void sums_without_weights_add_the_rows_that_there_are_and_a_bias_last(int operands) {
        int hidden = 3 * GROUP;
        int sums = 5;
        int rows = 11;
        long stride = 2L * hidden + 2;
        int[] values = ExpertReference.normal(random, rows * hidden, 3);
        int[] bias = ExpertReference.normal(random, sums * hidden, 3);
        int[] indices = new int[sums * operands];
        for (int i = 0; i < indices.length; i++) {
            indices[i] = i % operands > 125 || random.nextInt(4) == 0 ? -1 - i : random.nextInt(rows);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(1 + rows * stride);
            MemorySegment addresses = arena.allocate(8L * indices.length);
            for (int i = 0; i < rows; i++) {
                for (int j = 0; j < hidden; j++) {
                    from.set(ValueLayout.JAVA_SHORT_UNALIGNED, 1 + i * stride + 2L * j, (short) values[i * hidden + j]);
                }
            }
            for (int i = 0; i < indices.length; i++) {
                addresses.setAtIndex(
                        ValueLayout.JAVA_LONG, i, indices[i] < 0 ? 0 : from.address() + 1 + indices[i] * stride);
            }
            MemorySegment table = arena.allocateFrom(ValueLayout.JAVA_INT, indices);
            MemorySegment added = arena.allocate(2L * bias.length + 1);
            ExpertReference.write(added, 1, bias);
            for (int variant : ExpertKernelsTest.variants()) {
                assertThat(Reduce.use(variant)).isZero();
                for (MemorySegment biases : new MemorySegment[] {null, added}) {
                    MemorySegment byIndex = ExpertKernelsTest.untouched(arena, 2L * hidden * sums);
                    MemorySegment byAddress = ExpertKernelsTest.untouched(arena, 2L * hidden * sums);
                    ExpertSums.ofRows(
                            byIndex,
                            0,
                            2L * hidden,
                            from,
                            1,
                            stride,
                            table,
                            0,
                            biases,
                            1,
                            2L * hidden,
                            hidden,
                            operands,
                            0,
                            3);
                    ExpertSums.ofRows(
                            byIndex,
                            0,
                            2L * hidden,
                            from,
                            1,
                            stride,
                            table,
                            0,
                            biases,
                            1,
                            2L * hidden,
                            hidden,
                            operands,
                            3,
                            2);
                    ExpertSums.at(
                            byAddress,
                            0,
                            2L * hidden,
                            addresses,
                            0,
                            null,
                            0,
                            biases,
                            1,
                            2L * hidden,
                            ExpertKernels.BFLOAT16,
                            hidden,
                            operands,
                            0,
                            sums);
                    assertThat(byAddress.mismatch(byIndex)).isEqualTo(-1);
                    for (int i = 0; i < sums * hidden; i++) {
                        float[] weights = new float[operands];
                        boolean[] absent = new boolean[operands];
                        int[] operand = new int[operands];
                        for (int k = 0; k < operands; k++) {
                            int index = indices[i / hidden * operands + k];
                            weights[k] = 1;
                            absent[k] = index < 0;
                            operand[k] = index < 0 ? 0 : values[index * hidden + i % hidden];
                        }
                        assertThat(Short.toUnsignedInt(byIndex.getAtIndex(ValueLayout.JAVA_SHORT, i)))
                                .isEqualTo(
                                        ExpertReference.sum(weights, operand, absent, biases == null ? -1 : bias[i]));
                    }
                }
            }
            table.setAtIndex(ValueLayout.JAVA_INT, 4L * operands, rows);
            assertThatThrownBy(() -> ExpertSums.ofRows(
                            from, 0, 0, from, 1, stride, table, 0, null, 0, 0, hidden, operands, 4, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void numbers_out_of_range_are_refused() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment to = arena.allocate(256);
            MemorySegment from = arena.allocate(1024);
            MemorySegment table = arena.allocate(8 * 200);
            MemorySegment ones = arena.allocateFrom(ValueLayout.JAVA_INT, new int[200]);
            refused(() -> slots(to, from, table, 256, 2, 4, 0));
            refused(() -> slots(to, from, table, 256, 0, 0, 0));
            refused(() -> slots(to, from, table, 255, 0, 4, 0));
            refused(() -> slots(to, from, table, Long.MAX_VALUE, 0, 1, 0));
            outside(() -> slots(to, from, table, 256, 0, 5, 0));
            outside(() -> slots(to, from, table, 256, 0, 2, 1));
            outside(() -> slots(to, from.asSlice(0, 1023), table, 256, 0, 4, 0));
            outside(() -> slots(to, from, table.asSlice(0, 31), 256, 0, 4, 0));
            slots(to, from, table, 256, ExpertKernels.BFLOAT16, 4, 0);
            refused(() -> slots(to.asReadOnly(), from, table, 256, 0, 4, 0));
            // 200 operands, all of which there are
            refused(() -> ExpertSums.ofRows(to, 0, 256, from, 0, 256, ones, 0, null, 0, 0, GROUP, 200, 0, 1));
            refused(() -> ExpertSums.ofRows(to, 0, 256, from, 0, 0, ones, 0, null, 0, 0, GROUP, 2, 0, 1));
            outside(() -> ExpertSums.ofRows(to, 0, 256, from, 0, 256, ones, 0, to, 1, 0, GROUP, 2, 0, 1));
            refused(() -> ExpertSums.at(to, 0, 256, table, 0, null, 0, to, 0, 0, ExpertKernels.LOGFMT, GROUP, 2, 0, 1));
            outside(() -> ExpertSums.at(to, 0, 256, table, 0, ones, 793, null, 0, 0, 0, GROUP, 2, 0, 1));
        }
    }

    private static void slots(
            MemorySegment to, MemorySegment from, MemorySegment table, long stride, int form, int operands, int first) {
        ExpertSums.ofSlots(to, 0, 256, from, 0, stride, table, 0, table, 0, form, GROUP, operands, first, 1);
    }

    private static void outside(Runnable call) {
        assertThatThrownBy(call::run).isInstanceOf(IndexOutOfBoundsException.class);
    }

    private static void refused(Runnable call) {
        assertThatThrownBy(call::run).isInstanceOf(IllegalArgumentException.class);
    }
}
