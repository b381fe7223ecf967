package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedLane;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedRail;
import io.sluice.testkit.FuzzSeed;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A peer's offer comes from outside: damage is a protocol error, and nothing else. */
class VerbsOfferTest {
    private static final byte[] GID = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    private static final VerbsOffer OFFER = new VerbsOffer(
            32,
            List.of(
                    new OfferedRail(GID, 7, 4096, false, 255, -1L, -2),
                    new OfferedRail(new byte[16], 0, 1024, true, 0, 1L << 63, 0x7fff_ffff)),
            List.of(
                    new OfferedLane(1, 0xff_ffff, 0xab_cdef),
                    new OfferedLane(0, 17, 0),
                    new OfferedLane(1, Integer.MIN_VALUE, -1)),
            true);
    private static final int CREDITS_AT = 1;
    private static final int MESSAGE_BYTES_AT = 3;
    private static final int RAILS_AT = 5;
    private static final int LANES_AT = 6;
    private static final int FIRST_LANE_AT = 7 + 2 * 38;

    private static void assertDamaged(byte[] offer) {
        assertThatExceptionOfType(ProtocolException.class).isThrownBy(() -> VerbsOffer.read(offer));
    }

    private static byte[] altered(int at, int... values) {
        byte[] bytes = OFFER.toBytes();
        for (int i = 0; i < values.length; i++) {
            bytes[at + i] = (byte) values[i];
        }
        return bytes;
    }

    @Test
    void whatIsWrittenIsRead() {
        VerbsOffer read = VerbsOffer.read(OFFER.toBytes());
        assertThat(read.credits()).isEqualTo(32);
        assertThat(read.lanes()).isEqualTo(OFFER.lanes());
        assertThat(read.rails()).hasSize(2);
        assertThat(read.rails()).usingRecursiveComparison().isEqualTo(OFFER.rails());
        assertThat(read.devices()).isTrue();
    }

    @Test
    void laterVersionsMayAddToTheEnd() {
        byte[] longer = Arrays.copyOf(OFFER.toBytes(), OFFER.toBytes().length + 20);
        longer[0] = 2;
        assertThat(VerbsOffer.read(longer).lanes()).isEqualTo(OFFER.lanes());
    }

    @Test
    void thatOfTheFirstVersionKnowsNoDevices() {
        VerbsOffer first = VerbsOffer.read(ofFirstVersion());
        assertThat(first.devices()).isFalse();
        assertThat(first.lanes()).isEqualTo(OFFER.lanes());
    }

    private static byte[] ofFirstVersion() {
        return Arrays.copyOf(OFFER.toBytes(), OFFER.toBytes().length - 1);
    }

    @Test
    void everyShorterOneIsDamaged() {
        byte[] whole = ofFirstVersion();
        for (int length = 0; length < whole.length; length++) {
            assertDamaged(Arrays.copyOf(whole, length));
        }
    }

    @Test
    void numbersOutOfRangeAreDamage() {
        assertDamaged(altered(0, 0));
        assertDamaged(altered(0, -1));
        // a lane needs some
        assertDamaged(altered(CREDITS_AT, 0, 0));
        assertDamaged(altered(CREDITS_AT, 0, 3));
        // a peer that would cut messages short
        assertDamaged(altered(MESSAGE_BYTES_AT, 1, 0xff));
        assertDamaged(altered(RAILS_AT, 0));
        assertDamaged(altered(RAILS_AT, -1));
        assertDamaged(altered(RAILS_AT, 17));
        assertDamaged(altered(LANES_AT, 0));
        assertDamaged(altered(LANES_AT, -1));
        assertDamaged(altered(LANES_AT, 17));
        // a lane on a rail that there is not
        assertDamaged(altered(FIRST_LANE_AT, 2));
        assertDamaged(altered(FIRST_LANE_AT, -1));
        assertDamaged(altered(FIRST_LANE_AT, Byte.MIN_VALUE));
    }

    @Test
    void anyBytesAreAnOfferOrDamaged() {
        Random random = FuzzSeed.of("VerbsOfferTest").random();
        int read = 0;
        for (int i = 0; i < 100_000; i++) {
            byte[] bytes = Arrays.copyOf(OFFER.toBytes(), random.nextInt(200));
            for (int flips = random.nextInt(4); flips > 0 && bytes.length > 0; flips--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            try {
                VerbsOffer offer = VerbsOffer.read(bytes);
                assertThat(offer.rails()).hasSizeBetween(1, 16);
                assertThat(offer.lanes())
                        .hasSizeBetween(1, 16)
                        .allSatisfy(lane -> assertThat(lane.rail())
                                .isBetween(0, offer.rails().size() - 1));
                assertThat(offer.credits()).isGreaterThanOrEqualTo(4);
                read++;
            } catch (ProtocolException damaged) {
                continue;
            }
        }
        assertThat(read).as("some were whole").isPositive();
    }
}
