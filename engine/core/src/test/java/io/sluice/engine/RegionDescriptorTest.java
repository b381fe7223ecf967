package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class RegionDescriptorTest {
    private static final RegionDescriptor DESCRIPTOR = new RegionDescriptor(
            new EngineId(0x0102030405060708L, 0x090A0B0C0D0E0F10L),
            0x1112131415161718L,
            0x191A1B1C1D1E1F20L,
            0x2122232425262728L,
            MemoryKind.HOST,
            Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE),
            0x292A2B2C2D2E2F30L,
            0x3132333435363738L);

    @Test
    void layoutIsTheDocumentedOne() {
        byte[] bytes = DESCRIPTOR.toBytes();
        assertThat(bytes).hasSize(64);
        assertThat(Arrays.copyOf(bytes, 4)).containsExactly(1, 0, 3, 0);
        for (int at = 8; at < 64; at++) {
            assertThat(bytes[at]).as("byte %d", at).isEqualTo((byte) (at - 7));
        }
        assertThat(ByteBuffer.wrap(bytes).getInt(4)).isEqualTo(checksum(bytes));
    }

    private static int checksum(byte[] bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes, 0, 4);
        checksum.update(bytes, 8, 56);
        return (int) checksum.getValue();
    }

    @Test
    void bytesSurvive() {
        Random random = new Random(3);
        assertThat(RegionDescriptor.fromBytes(DESCRIPTOR.toBytes())).isEqualTo(DESCRIPTOR);
        for (int i = 0; i < 1_000; i++) {
            EnumSet<Access> access = EnumSet.noneOf(Access.class);
            for (Access right : Access.values()) {
                if (random.nextBoolean()) {
                    access.add(right);
                }
            }
            RegionDescriptor descriptor = new RegionDescriptor(
                    new EngineId(random.nextLong(), random.nextLong()),
                    random.nextLong(),
                    random.nextLong(),
                    random.nextLong(),
                    MemoryKind.HOST,
                    access,
                    random.nextLong() >>> 2,
                    random.nextLong() >>> 2);
            assertThat(RegionDescriptor.fromBytes(descriptor.toBytes())).isEqualTo(descriptor);
        }
    }

    @Test
    void rangesAreChecked() {
        for (long[] range :
                new long[][] {{-1, 0}, {0, -1}, {Long.MAX_VALUE, 1}, {1, Long.MAX_VALUE}, {Long.MIN_VALUE, 0}, {-8, 16}
                }) {
            assertThatThrownBy(() -> of(range[0], range[1])).isInstanceOf(InvalidDescriptorException.class);
        }
        assertThat(of(Long.MAX_VALUE, 0).length()).isZero();
        assertThat(of(0, Long.MAX_VALUE).length()).isEqualTo(Long.MAX_VALUE);
    }

    private static RegionDescriptor of(long offset, long length) {
        return new RegionDescriptor(new EngineId(1, 2), 3, 4, 5, MemoryKind.HOST, Set.of(), offset, length);
    }

    @Test
    void accessCannotBeChangedLater() {
        Set<Access> access = new HashSet<>(Set.of(Access.REMOTE_READ));
        RegionDescriptor descriptor = new RegionDescriptor(new EngineId(1, 2), 3, 4, 5, MemoryKind.HOST, access, 0, 8);
        access.add(Access.REMOTE_WRITE);
        assertThat(descriptor.access()).containsExactly(Access.REMOTE_READ);
    }

    @Test
    void everyChangedBitIsNoticed() {
        byte[] bytes = DESCRIPTOR.toBytes();
        for (int bit = 0; bit < 8 * bytes.length; bit++) {
            byte[] damaged = bytes.clone();
            damaged[bit / 8] ^= (byte) (1 << (bit % 8));
            assertThatThrownBy(() -> RegionDescriptor.fromBytes(damaged))
                    .isInstanceOf(InvalidDescriptorException.class);
        }
    }

    @Test
    void everyOtherLengthIsRefused() {
        byte[] bytes = DESCRIPTOR.toBytes();
        for (int length = 0; length < 200; length++) {
            if (length != bytes.length) {
                byte[] other = Arrays.copyOf(bytes, length);
                assertThatThrownBy(() -> RegionDescriptor.fromBytes(other))
                        .isInstanceOf(InvalidDescriptorException.class);
            }
        }
    }

    @Test
    void damageUnderAGoodChecksumGivesADescriptorOrTheTypedError() {
        Random random = new Random(4);
        int refused = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes = DESCRIPTOR.toBytes();
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            ByteBuffer.wrap(bytes).putInt(4, checksum(bytes));
            try {
                RegionDescriptor descriptor = RegionDescriptor.fromBytes(bytes);
                assertThat(descriptor.toBytes()).isEqualTo(bytes);
            } catch (InvalidDescriptorException e) {
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }

    @Test
    void keyStaysOutOfTheText() {
        assertThat(DESCRIPTOR.toString())
                .doesNotContain(Long.toHexString(DESCRIPTOR.key()))
                .doesNotContain(Long.toString(DESCRIPTOR.key()))
                .contains(DESCRIPTOR.engineId().toString());
    }
}
