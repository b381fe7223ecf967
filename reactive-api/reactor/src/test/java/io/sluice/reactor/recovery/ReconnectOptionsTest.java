package io.sluice.reactor.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReconnectOptionsTest {
    private static final ReconnectOptions OPTIONS =
            ReconnectOptions.defaults().withBackoff(Duration.ofMillis(100), Duration.ofSeconds(5));

    @Test
    void thePausesDoubleUpToTheLongest() {
        long[] millis = {100, 200, 400, 800, 1600, 3200, 5000, 5000};
        for (int failures = 1; failures <= millis.length; failures++) {
            assertThat(OPTIONS.pauseAfter(failures, bound -> bound - 1))
                    .isEqualTo(Duration.ofMillis(millis[failures - 1]));
        }
        assertThat(OPTIONS.pauseAfter(Integer.MAX_VALUE, bound -> bound - 1)).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void aPauseIsAnythingBetweenNothingAndThat() {
        assertThat(OPTIONS.pauseAfter(4, bound -> 0)).isZero();
        for (int i = 0; i < 1000; i++) {
            assertThat(OPTIONS.pauseAfter(4)).isBetween(Duration.ZERO, Duration.ofMillis(800));
        }
    }

    @Test
    void veryLongPausesDoNotOverflow() {
        ReconnectOptions patient = OPTIONS.withBackoff(Duration.ofDays(1), Duration.ofDays(1000));
        assertThat(patient.pauseAfter(500, bound -> bound - 1)).isEqualTo(Duration.ofDays(1000));
        assertThat(patient.pauseAfter(3, bound -> bound - 1)).isEqualTo(Duration.ofDays(4));
    }

    @Test
    void rangesAreChecked() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OPTIONS.withBackoff(Duration.ZERO, Duration.ofSeconds(1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OPTIONS.withBackoff(Duration.ofSeconds(2), Duration.ofSeconds(1)));
        assertThatIllegalArgumentException().isThrownBy(() -> OPTIONS.withMaxFailures(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> OPTIONS.withMaxWait(Duration.ofMillis(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> OPTIONS.withMaxWaiting(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> OPTIONS.pauseAfter(0));
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        new CircuitBreakerOptions(-1, Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ZERO));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new CircuitBreakerOptions(1, Duration.ZERO, Duration.ofSeconds(1), Duration.ZERO));
    }
}
