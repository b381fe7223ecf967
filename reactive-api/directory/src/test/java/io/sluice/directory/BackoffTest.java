package io.sluice.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BackoffTest {
    @Test
    void pausesDoubleUpToTheLongestAndAreShortenedByHalfAtMost() {
        Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));
        for (int failures = 1; failures < 200; failures++) {
            long whole = failures > 6 ? 5_000 : Math.min(5_000, 100L << (failures - 1));
            for (int i = 0; i < 50; i++) {
                assertThat(backoff.after(failures)).isBetween(Duration.ofMillis(whole / 2), Duration.ofMillis(whole));
            }
        }
    }

    @Test
    void pausesDiffer() {
        Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(5));
        Duration first = backoff.after(1);
        boolean differs = false;
        for (int i = 0; i < 100; i++) {
            differs |= !backoff.after(1).equals(first);
        }
        assertThat(differs).isTrue();
    }

    @Test
    void theLongestPauseBoundsTheFirst() {
        assertThat(new Backoff(Duration.ofSeconds(3), Duration.ofMillis(10)).after(1))
                .isLessThanOrEqualTo(Duration.ofMillis(10));
    }

    @Test
    void noNumberOfFailuresOverflows() {
        Backoff backoff = new Backoff(Duration.ofDays(1), Duration.ofDays(100));
        assertThat(backoff.after(Integer.MAX_VALUE)).isBetween(Duration.ofDays(50), Duration.ofDays(100));
    }
}
