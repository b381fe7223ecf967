package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class SourceSharesTest {
    private static final long SECOND = 1_000_000_000L;

    private static int takeAll(SourceShares shares, long source) {
        int taken = 0;
        while (shares.takeSlot(source, 0) != null) {
            taken++;
        }
        return taken;
    }

    private static int admitted(SourceShares shares, SourceShare share, boolean hinted, long now, int tries) {
        int admitted = 0;
        for (int i = 0; i < tries; i++) {
            if (shares.admits(share, hinted, now)) {
                admitted++;
            }
        }
        return admitted;
    }

    @Test
    void oneAloneHasNearlyAllPlaces() {
        SourceShares shares = new SourceShares(256, 2000, 0);
        assertThat(takeAll(shares, 1)).isEqualTo(224);
        assertThat(takeAll(shares, 2)).isEqualTo(16);
        assertThat(takeAll(shares, 3)).isEqualTo(1);
        assertThat(shares.taken()).isEqualTo(241);
        assertThat(shares.isFull()).isFalse();
    }

    @Test
    void someThatComeAtOnceLeaveAPlaceForOneThatComesLater() {
        SourceShares shares = new SourceShares(256, 2000, 0);
        for (long source = 0; source < 16; source++) {
            assertThat(takeAll(shares, source)).isPositive();
        }
        assertThat(takeAll(shares, 16)).isEqualTo(1);
    }

    @Test
    void allPlacesAreTakenByAddressesThatHaveOneEach() {
        SourceShares shares = new SourceShares(256, 2000, 0);
        for (long source = 0; source < 256; source++) {
            assertThat(shares.takeSlot(source, 0)).isNotNull();
        }
        assertThat(shares.isFull()).isTrue();
        assertThat(shares.takeSlot(256, 0)).isNull();
    }

    @Test
    void theOnlyPlaceIsForAnySource() {
        SourceShares shares = new SourceShares(1, 1, 0);
        SourceShare share = shares.takeSlot(1, 0);
        assertThat(share).isNotNull();
        assertThat(shares.takeSlot(2, 0)).isNull();
        shares.giveSlot(share);
        assertThat(shares.takeSlot(2, 0)).isNotNull();
    }

    @Test
    void oneAloneHasNearlyAllOfTheRate() {
        SourceShares shares = new SourceShares(256, 2000, 0);
        SourceShare share = shares.takeSlot(1, 0);
        assertThat(admitted(shares, share, true, 0, 5000)).isEqualTo(1750);
        int next = 0;
        for (int i = 1; i <= 100; i++) {
            next += admitted(shares, share, true, i * SECOND / 100, 100);
        }
        assertThat(next).as("in the second after").isBetween(1500, 2200);
        SourceShare other = shares.takeSlot(2, 0);
        assertThat(admitted(shares, other, true, SECOND, 50)).isEqualTo(50);
    }

    @Test
    void strangersLeaveSomeOfTheRateToThoseWithATokenFromTheSameAddress() {
        SourceShares shares = new SourceShares(256, 2000, 0);
        SourceShare share = shares.takeSlot(1, 0);
        for (int i = 0; i < 500; i++) {
            long now = i * SECOND / 100;
            admitted(shares, share, false, now, 120);
            assertThat(shares.admits(share, true, now)).isTrue();
        }
    }

    @Test
    void addressesWithoutNumber() {
        SourceShares shares = new SourceShares(65_536, 2000, 0);
        for (long source = 0; source < 20_000; source++) {
            SourceShare share = shares.takeSlot(source, 0);
            assertThat(share).isNotNull();
            shares.admits(share, true, 0);
        }
        assertThat(shares.sources()).isEqualTo(4096);
    }

    /** With thousands of addresses each look costs more than the socket that it is for. */
    @Test
    void sourcesAreLookedAtOnceASecondForThoseThatAreIdle() {
        SourceShares shares = new SourceShares(256, 2000, 0);
        for (long source = 0; source < 5000; source++) {
            shares.giveSlot(shares.takeSlot(source, 0));
        }
        int known = shares.sources();
        for (long source = 5000; known < 4096; source++) {
            shares.giveSlot(shares.takeSlot(source, 0));
            known = shares.sources();
        }
        shares.giveSlot(shares.takeSlot(100_000, SECOND - 1));
        assertThat(shares.sources()).isEqualTo(4096);
        shares.giveSlot(shares.takeSlot(100_001, SECOND));
        assertThat(shares.sources()).isEqualTo(1);
    }

    @Test
    void sourcesByAddress() {
        byte[] four = {127, 0, 0, 2, 1, 1};
        byte[] mapped =
                ByteBuffer.allocate(18).putLong(0).putInt(0xFFFF).put(four).array();
        byte[] six = ByteBuffer.allocate(18)
                .putLong(0x20010db800000001L)
                .putLong(7)
                .putShort((short) 1)
                .array();
        byte[] sixNext = ByteBuffer.allocate(18)
                .putLong(0x20010db800000001L)
                .putLong(8)
                .putShort((short) 2)
                .array();
        assertThat(SourceAddress.of(four)).isEqualTo(0x7F000002L).isEqualTo(SourceAddress.of(mapped));
        assertThat(SourceAddress.of(six)).isEqualTo(SourceAddress.of(sixNext)).isNotEqualTo(SourceAddress.of(four));
    }
}
