package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.transport.tcp.RawLane.Claim;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FrameHeaderTest {
    private static final int AT = 3;

    private final MemorySegment segment = MemorySegment.ofArray(new byte[AT + FrameHeader.LONGEST_BYTES + AT]);

    private void write(int operation, int status, Claim claim) {
        FrameHeader.write(
                segment,
                AT,
                operation,
                status,
                claim.handle(),
                claim.key(),
                claim.epoch(),
                claim.offset(),
                claim.length());
    }

    @Test
    void everyFieldComesBackWhatItWas() {
        Random random = new Random(2);
        long[] telling = {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, 0x0102030405060708L};
        for (int i = 0; i < 10_000; i++) {
            long[] values = new long[5];
            for (int j = 0; j < values.length; j++) {
                values[j] = random.nextBoolean() ? random.nextLong() : telling[random.nextInt(telling.length)];
            }
            int operation = random.nextInt(128);
            int status = random.nextInt(256);
            Claim claim = new Claim(values[0], values[1], values[2], values[3], values[4]);
            write(operation, status, claim);
            assertThat(FrameHeader.isWellFormed(segment, AT)).isEqualTo(claim.length() >= 0);
            assertThat(FrameHeader.operation(segment, AT)).isEqualTo(operation);
            assertThat(FrameHeader.status(segment, AT)).isEqualTo(status);
            assertThat(FrameHeader.handle(segment, AT)).isEqualTo(claim.handle());
            assertThat(FrameHeader.key(segment, AT)).isEqualTo(claim.key());
            assertThat(FrameHeader.epoch(segment, AT)).isEqualTo(claim.epoch());
            assertThat(FrameHeader.offset(segment, AT)).isEqualTo(claim.offset());
            assertThat(FrameHeader.length(segment, AT)).isEqualTo(claim.length());
        }
    }

    /** The layout is the wire's, so it must not change with the class. */
    @Test
    void layoutIsAsDocumented() {
        Claim claim = new Claim(0x0102030405060708L, 0x1112131415161718L, 0x2122232425262728L, 0x3132L, 0x41L);
        write(FrameHeader.NACK, 200, claim);
        byte[] written = segment.asSlice(AT, FrameHeader.BYTES).toArray(ValueLayout.JAVA_BYTE);
        assertThat(written).isEqualTo(RawLane.header(RawLane.NACK, 200, claim));
        assertThat(written).startsWith(0x53, 0x4C, 0x44, 0x54, 6, 200, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    @Test
    void nothingOutsideTheHeaderIsTouched() {
        segment.fill((byte) 0x55);
        write(FrameHeader.WRITE, 0, new Claim(0, 0, 0, 0, 0));
        for (int i = 0; i < AT; i++) {
            assertThat(segment.get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) 0x55);
            assertThat(segment.get(ValueLayout.JAVA_BYTE, AT + FrameHeader.BYTES + i))
                    .isEqualTo((byte) 0x55);
        }
    }

    @Test
    void eachBitOfMagicAndZeroCounts() {
        for (int bit = 0; bit < FrameHeader.BYTES * 8; bit++) {
            write(FrameHeader.READ, 0, new Claim(1, 2, 3, 4, 5));
            int at = AT + bit / 8;
            byte before = segment.get(ValueLayout.JAVA_BYTE, at);
            segment.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ (1 << (bit % 8))));
            int inHeader = bit / 8;
            boolean mattersHere = inHeader < 4 || inHeader == 6 || inHeader == 7 || (inHeader == 40 && bit % 8 == 7);
            assertThat(FrameHeader.isWellFormed(segment, AT)).as("bit %d", bit).isEqualTo(!mattersHere);
        }
    }

    @Test
    void operandsComeBehindTheHeader() {
        write(FrameHeader.COMPARE_AND_SWAP, 0, new Claim(1, 2, 3, 4, 8));
        FrameHeader.writeOperands(segment, AT, 0x0102030405060708L, -2);
        byte[] written = segment.asSlice(AT, FrameHeader.LONGEST_BYTES).toArray(ValueLayout.JAVA_BYTE);
        assertThat(written)
                .isEqualTo(RawLane.word(RawLane.COMPARE_AND_SWAP, new Claim(1, 2, 3, 4, 8), 0x0102030405060708L, -2));
        assertThat(FrameHeader.operand(segment, AT)).isEqualTo(0x0102030405060708L);
        assertThat(FrameHeader.expected(segment, AT)).isEqualTo(-2);
    }

    @Test
    void onlyOperationsWithOperandsHaveTheLongerHeader() {
        assertThat(FrameHeader.bytes(FrameHeader.WRITE_BEFORE_SIGNAL)).isEqualTo(FrameHeader.BYTES);
        assertThat(FrameHeader.bytes(FrameHeader.PUT)).isEqualTo(FrameHeader.LONGEST_BYTES);
        assertThat(FrameHeader.bytes(FrameHeader.FETCHED)).isEqualTo(FrameHeader.LONGEST_BYTES);
    }
}
