package io.sluice.collectives.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlainReducerTest {
    private static final PlainReducer REDUCER = new PlainReducer();
    private static final long[] NUMBERS = {
        0,
        1,
        -1,
        2,
        7,
        -7,
        100,
        -128,
        127,
        255,
        Integer.MIN_VALUE,
        Integer.MAX_VALUE,
        0xFFFF_FFFFL,
        Long.MIN_VALUE,
        Long.MAX_VALUE
    };

    private static long reduced(int type, int bytes, int operation, long a, long b) {
        MemorySegment memory = MemorySegment.ofArray(new byte[3 * bytes]);
        set(memory, 0, bytes, a);
        set(memory, bytes, bytes, b);
        REDUCER.reduce(type, operation, memory, 2L * bytes, memory, 0, memory, bytes, 1);
        return get(memory, 2L * bytes, bytes);
    }

    private static void set(MemorySegment memory, long at, int bytes, long value) {
        switch (bytes) {
            case 1 -> memory.set(ValueLayout.JAVA_BYTE, at, (byte) value);
            case 2 -> memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) value);
            case 4 -> memory.set(ValueLayout.JAVA_INT_UNALIGNED, at, (int) value);
            default -> memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, value);
        }
    }

    private static long get(MemorySegment memory, long at, int bytes) {
        return switch (bytes) {
            case 1 -> memory.get(ValueLayout.JAVA_BYTE, at);
            case 2 -> memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, at);
            case 4 -> memory.get(ValueLayout.JAVA_INT_UNALIGNED, at);
            default -> memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
        };
    }

    /** The number that the bits mean. */
    private static BigInteger meant(long bits, int bytes, boolean signed) {
        BigInteger unsigned =
                BigInteger.valueOf(bits).and(BigInteger.ONE.shiftLeft(8 * bytes).subtract(BigInteger.ONE));
        return signed && unsigned.testBit(8 * bytes - 1)
                ? unsigned.subtract(BigInteger.ONE.shiftLeft(8 * bytes))
                : unsigned;
    }

    @ParameterizedTest
    @CsvSource({
        TypeCode.INT8 + ", 1, true",
        TypeCode.UINT8 + ", 1, false",
        TypeCode.INT32 + ", 4, true",
        TypeCode.UINT32 + ", 4, false",
        TypeCode.INT64 + ", 8, true",
        TypeCode.UINT64 + ", 8, false"
    })
    void integersWrapAround(int type, int bytes, boolean signed) {
        for (long first : NUMBERS) {
            for (long second : NUMBERS) {
                BigInteger a = meant(first, bytes, signed);
                BigInteger b = meant(second, bytes, signed);
                BigInteger[] expected = {a.add(b), a.multiply(b), a.min(b), a.max(b)};
                for (int operation = OperationCode.SUM; operation <= OperationCode.MAX; operation++) {
                    assertThat(meant(reduced(type, bytes, operation, first, second), bytes, signed))
                            .as("operation %d of %s and %s", operation, a, b)
                            .isEqualTo(meant(expected[operation - 1].longValue(), bytes, signed));
                }
                MemorySegment memory = MemorySegment.ofArray(new byte[bytes]);
                set(memory, 0, bytes, first);
                REDUCER.divide(type, memory, 0, 1, 3);
                assertThat(meant(get(memory, 0, bytes), bytes, signed)).isEqualTo(a.divide(BigInteger.valueOf(3)));
            }
        }
    }

    @Test
    void bfloat16IsRoundedToTheNearestAndTiesToEven() {
        for (int upper = 0; upper < 1 << 16; upper++) {
            float value = PlainReducer.bfloat16ToFloat((short) upper);
            assertThat(Float.isNaN(value) || PlainReducer.floatToBfloat16(value) == (short) upper)
                    .isTrue();
        }
        assertThat(PlainReducer.floatToBfloat16(Float.intBitsToFloat(0x3F80_8000)))
                .isEqualTo((short) 0x3F80);
        assertThat(PlainReducer.floatToBfloat16(Float.intBitsToFloat(0x3F81_8000)))
                .isEqualTo((short) 0x3F82);
        assertThat(PlainReducer.floatToBfloat16(Float.intBitsToFloat(0x3F80_8001)))
                .isEqualTo((short) 0x3F81);
        assertThat(PlainReducer.floatToBfloat16(Float.MAX_VALUE)).isEqualTo((short) 0x7F80);
        assertThat(PlainReducer.floatToBfloat16(Float.NaN)).isEqualTo((short) 0x7FC0);
    }

    @Test
    void floatsAreReducedAsJavaDoes() {
        float[] values = {0f, -0f, 1f, -2.5f, 3e38f, Float.NaN, Float.NEGATIVE_INFINITY};
        for (float a : values) {
            for (float b : values) {
                float[] expected = {a + b, a * b, Math.min(a, b), Math.max(a, b)};
                for (int operation = OperationCode.SUM; operation <= OperationCode.MAX; operation++) {
                    int bits = (int) reduced(
                            TypeCode.FLOAT32, 4, operation, Float.floatToRawIntBits(a), Float.floatToRawIntBits(b));
                    assertThat(bits).isEqualTo(Float.floatToIntBits(expected[operation - 1]));
                    long doubleBits = reduced(
                            TypeCode.FLOAT64,
                            8,
                            operation,
                            Double.doubleToRawLongBits(a),
                            Double.doubleToRawLongBits(b));
                    double[] doubles = {(double) a + b, (double) a * b, Math.min(a, b), Math.max(a, b)};
                    assertThat(doubleBits).isEqualTo(Double.doubleToLongBits(doubles[operation - 1]));
                }
            }
        }
    }

    @Test
    void floatsOf16BitsAreComputedInFloat32() {
        long sum = reduced(TypeCode.FLOAT16, 2, OperationCode.SUM, Float.floatToFloat16(1f), Float.floatToFloat16(2f));
        assertThat(Float.float16ToFloat((short) sum)).isEqualTo(3f);
        long product = reduced(
                TypeCode.BFLOAT16,
                2,
                OperationCode.PRODUCT,
                PlainReducer.floatToBfloat16(3f),
                PlainReducer.floatToBfloat16(-5f));
        assertThat(PlainReducer.bfloat16ToFloat((short) product)).isEqualTo(-15f);
    }
}
