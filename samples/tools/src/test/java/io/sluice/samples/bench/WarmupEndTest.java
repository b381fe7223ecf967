package io.sluice.samples.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WarmupEndTest {

    private static final Duration LEAST = Duration.ofSeconds(2);

    private final WarmupEnd end = new WarmupEnd(LEAST);

    @Test
    void isNotBeforeTheLeastTime() {
        assertThat(end.isReached(0)).isFalse();
        assertThat(end.isReached(LEAST.toNanos() - 1)).isFalse();
    }

    @Test
    void isAfterFiveTimesTheLeastTimeWhateverIsCompiled() {
        assertThat(end.isReached(LEAST.multipliedBy(5).toNanos())).isTrue();
    }

    @Test
    void isAtOnceWhereNoneIsWanted() {
        assertThat(new WarmupEnd(Duration.ZERO).isReached(0)).isTrue();
    }
}
