package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sluice.engine.Access;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.testkit.FuzzSeed;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The keys of a peer's region come from outside: damage is a protocol error, and nothing else. */
class VerbsRemoteKeyTest {
    private static final int RAILS = 2;
    private static final int LENGTH = 2 + 8 + 4 * RAILS;
    private static final RegionDescriptor DESCRIPTOR = new RegionDescriptor(
            new EngineId(1, 2), 3, 4, 5, MemoryKind.values()[0], Set.of(Access.REMOTE_READ), 0, 4096);

    private static byte[] keys(int rails, int flags, long address) {
        return ByteBuffer.allocate(LENGTH)
                .put((byte) rails)
                .put((byte) flags)
                .putLong(address)
                .putInt(0x1234)
                .putInt(-1)
                .array();
    }

    private static VerbsRemoteKey read(byte[] bytes, int rails) {
        return VerbsRemoteKey.read(9, DESCRIPTOR, ByteBuffer.wrap(bytes), rails);
    }

    private static void assertDamaged(byte[] bytes, int rails) {
        assertThatExceptionOfType(ProtocolException.class).isThrownBy(() -> read(bytes, rails));
    }

    @Test
    void keysOfEachRailAreRead() {
        VerbsRemoteKey key = read(keys(RAILS, 1, 0x7f00_0000_1000L), RAILS);
        assertThat(key.handle()).isEqualTo(9);
        assertThat(key.key()).isEqualTo(5);
        assertThat(key.epoch()).isEqualTo(3);
        assertThat(key.address(16)).isEqualTo(0x7f00_0000_1010L);
        assertThat(key.key(0)).isEqualTo(0x1234);
        assertThat(key.key(1)).isEqualTo(-1);
        assertThat(key.hasAdapterAtomics()).isTrue();
        assertThat(key.hasEnded()).isFalse();
        assertThat(key.isFlushed()).isFalse();
        VerbsRemoteKey other = read(keys(RAILS, 2, 0), RAILS);
        assertThat(other.hasAdapterAtomics()).isFalse();
        assertThat(other.isFlushed()).isTrue();
        assertThat(other.nearestRail()).isEqualTo(-1);
        VerbsRemoteKey near = read(keys(RAILS, 0x14, 0), RAILS);
        assertThat(near.nearestRail()).isEqualTo(1);
        assertThat(near.isFlushed()).isFalse();
        assertThat(read(keys(RAILS, 0xF6, 0), RAILS).nearestRail()).isEqualTo(15);
    }

    @Test
    void thePeerSaysWhyThereAreNone() {
        byte[] reason = VerbsRemoteKey.writeRefused("the adapter\ntakes none");
        assertThatExceptionOfType(MemoryNotAccessibleException.class)
                .isThrownBy(() -> read(reason, RAILS))
                .withMessage("the adapter?takes none");
        assertThat(VerbsRemoteKey.writeRefused("x".repeat(2000))).hasSizeLessThanOrEqualTo(1024);
    }

    @Test
    void anotherNumberOfRailsOrAnotherLengthIsDamage() {
        assertDamaged(keys(RAILS, 0, 0), 1);
        assertDamaged(keys(RAILS, 0, 0), 3);
        assertDamaged(keys(1, 0, 0), 1);
        assertDamaged(keys(3, 0, 0), 3);
        assertDamaged(keys(-1, 0, 0), RAILS);
        for (int length = 0; length < 40; length++) {
            if (length != LENGTH) {
                assertDamaged(Arrays.copyOf(keys(RAILS, 0, 0), length), RAILS);
            }
        }
    }

    @Test
    void regionThatWouldLeaveTheAddressSpaceIsDamage() {
        assertDamaged(keys(RAILS, 0, Long.MAX_VALUE), RAILS);
        assertDamaged(keys(RAILS, 0, Long.MAX_VALUE - DESCRIPTOR.length() + 1), RAILS);
    }

    @Test
    void anyBytesAreKeysOrDamaged() {
        Random random = FuzzSeed.of("VerbsRemoteKeyTest").random();
        for (int i = 0; i < 100_000; i++) {
            byte[] bytes = new byte[random.nextInt(30)];
            random.nextBytes(bytes);
            if (bytes.length > 0 && random.nextBoolean()) {
                bytes[0] = RAILS;
            }
            try {
                VerbsRemoteKey key = read(bytes, RAILS);
                assertThat(bytes).hasSize(LENGTH);
                key.key(RAILS - 1);
            } catch (ProtocolException | MemoryNotAccessibleException damaged) {
                continue;
            }
        }
    }
}
