package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A row of 8-bit floats and its scales, computed element by element. */
final class QuantisedRow {
    private static final int GROUP = 128;
    private static final float MOST = 448;
    private static final float LEAST_AMAX = 1e-4f;

    private final int hidden;
    private final DispatchFormat format;

    QuantisedRow(int hidden, DispatchFormat format) {
        this.hidden = hidden;
        this.format = format;
    }

    /** Checks a row of a result against the token that it was made of. */
    void check(MemorySegment token, LowLatencyResult result, int local, int row, int rowsOfExpert) {
        MemorySegment scales = result.scales().orElseThrow().segment();
        int columns = format == DispatchFormat.FP8_UE8M0 ? hidden / (4 * GROUP) : hidden / GROUP;
        for (int group = 0; group < hidden / GROUP; group++) {
            float amax = LEAST_AMAX;
            for (int i = 0; i < GROUP; i++) {
                amax = Math.max(amax, Math.abs(value(token, group * GROUP + i)));
            }
            float inverse = amax * (1 / MOST);
            float scale = MOST / amax;
            if (format != DispatchFormat.FP8) {
                int exponent = (int) Math.ceil(Math.log(inverse) / Math.log(2) - 1e-9);
                inverse = Math.scalb(1f, exponent);
                scale = Math.scalb(1f, -exponent);
            }
            int column = format == DispatchFormat.FP8_UE8M0 ? group / 4 : group;
            long at = (((long) local * columns + column) * rowsOfExpert + row) * Integer.BYTES;
            int stored = scales.get(ValueLayout.JAVA_INT_UNALIGNED, at);
            int bits = Float.floatToRawIntBits(inverse);
            if (format == DispatchFormat.FP8_UE8M0) {
                stored = (stored >>> (8 * (group % 4))) & 0xFF;
                bits >>>= 23;
            }
            assertThat(stored).as("scale of row %d, group %d", row, group).isEqualTo(bits);
            for (int i = 0; i < GROUP; i++) {
                int channel = group * GROUP + i;
                byte code = result.tokens()
                        .segment()
                        .get(ValueLayout.JAVA_BYTE, ((long) local * rowsOfExpert + row) * hidden + channel);
                float scaled = value(token, channel) * scale;
                // no other code is nearer
                assertThat(Math.abs(decode(code) - scaled))
                        .as("row %d, channel %d: %s as %x", row, channel, scaled, code)
                        .isLessThanOrEqualTo(distance(scaled));
            }
        }
    }

    private static float value(MemorySegment token, int channel) {
        return Float.intBitsToFloat(token.get(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * channel) << 16);
    }

    private static float distance(float value) {
        float least = Float.MAX_VALUE;
        for (int code = 0; code < 256; code++) {
            if ((code & 0x7F) != 0x7F) {
                least = Math.min(least, Math.abs(decode((byte) code) - value));
            }
        }
        return least;
    }

    private static float decode(byte code) {
        int exponent = (code >> 3) & 15;
        int mantissa = code & 7;
        float value = exponent == 0 ? Math.scalb((float) mantissa, -9) : Math.scalb(1 + mantissa / 8f, exponent - 7);
        return code < 0 ? -value : value;
    }
}
