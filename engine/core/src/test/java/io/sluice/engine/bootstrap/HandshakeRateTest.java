package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HandshakeRateTest {
    private static final long SECOND = 1_000_000_000L;

    private static int admitted(HandshakeRate rate, long now, int tries) {
        int admitted = 0;
        for (int i = 0; i < tries; i++) {
            if (rate.admits(now)) {
                admitted++;
            }
        }
        return admitted;
    }

    @Test
    void thoseOfASecondMayComeAtOnce() {
        long now = Long.MAX_VALUE - SECOND / 2; // the clock may turn over
        HandshakeRate rate = new HandshakeRate(100, now);
        assertThat(admitted(rate, now, 1000)).isEqualTo(100);
        assertThat(admitted(rate, now + SECOND / 10, 1000)).isEqualTo(10);
        assertThat(admitted(rate, now + SECOND, 1000)).isEqualTo(90);
    }

    @Test
    void whatWasNotUsedIsNotSavedUp() {
        HandshakeRate rate = new HandshakeRate(100, 0);
        assertThat(admitted(rate, 60 * SECOND, 1000)).isEqualTo(100);
    }

    @Test
    void oneASecond() {
        HandshakeRate rate = new HandshakeRate(1, 0);
        assertThat(admitted(rate, 0, 10)).isEqualTo(1);
        assertThat(admitted(rate, SECOND / 2, 10)).isZero();
        assertThat(admitted(rate, SECOND, 10)).isEqualTo(1);
    }
}
