package io.sluice.reactor.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class CircuitBreakerTest {
    private static final CircuitBreakerOptions THREE_IN_TEN_SECONDS =
            new CircuitBreakerOptions(3, Duration.ofSeconds(10), Duration.ofSeconds(5), Duration.ofSeconds(1));

    private long now = Long.MAX_VALUE - 1000;
    private final CircuitBreaker breaker = new CircuitBreaker(THREE_IN_TEN_SECONDS, () -> now);

    private void pass(Duration time) {
        now += time.toNanos();
    }

    private void fail(int times) {
        for (int i = 0; i < times; i++) {
            breaker.failed();
        }
    }

    @Test
    void soManyFailuresWithinTheWindowOpenIt() {
        fail(2);
        assertThat(breaker.state()).isEqualTo(CircuitState.CLOSED);
        assertThat(breaker.tryAcquire()).isTrue();
        assertThat(breaker.remaining()).isZero();
        fail(1);
        assertThat(breaker.state()).isEqualTo(CircuitState.OPEN);
        assertThat(breaker.tryAcquire()).isFalse();
        assertThat(breaker.remaining()).isEqualTo(Duration.ofSeconds(5));
        assertThat(breaker.opened()).isEqualTo(1);
    }

    @Test
    void failuresFarApartDoNot() {
        for (int i = 0; i < 100; i++) {
            fail(1);
            pass(Duration.ofSeconds(6));
        }
        assertThat(breaker.state()).isEqualTo(CircuitState.CLOSED);
        assertThat(breaker.opened()).isZero();
    }

    @Test
    void itLetsOneAttemptThroughWhenItsTimeIsOver() {
        fail(3);
        pass(Duration.ofSeconds(5).minusNanos(1));
        assertThat(breaker.tryAcquire()).isFalse();
        pass(Duration.ofNanos(1));
        assertThat(breaker.state()).isEqualTo(CircuitState.HALF_OPEN);
        assertThat(breaker.tryAcquire()).isTrue();
        assertThat(breaker.tryAcquire()).isFalse();
    }

    @Test
    void successOfThatAttemptClosesItAndForgetsTheFailures() {
        fail(3);
        pass(Duration.ofSeconds(5));
        breaker.tryAcquire();
        breaker.succeeded();
        assertThat(breaker.state()).isEqualTo(CircuitState.CLOSED);
        fail(2);
        assertThat(breaker.state()).isEqualTo(CircuitState.CLOSED);
        fail(1);
        assertThat(breaker.state()).isEqualTo(CircuitState.OPEN);
        assertThat(breaker.opened()).isEqualTo(2);
    }

    @Test
    void failureOfThatAttemptOpensItOnceMore() {
        fail(3);
        for (int i = 2; i < 10; i++) {
            pass(Duration.ofSeconds(5));
            assertThat(breaker.tryAcquire()).isTrue();
            fail(1);
            assertThat(breaker.state()).isEqualTo(CircuitState.OPEN);
            assertThat(breaker.opened()).isEqualTo(i);
        }
    }

    @Test
    void whatIsToldOutOfTurnChangesNothing() {
        breaker.succeeded();
        assertThat(breaker.state()).isEqualTo(CircuitState.CLOSED);
        fail(3);
        pass(Duration.ofSeconds(3));
        fail(5);
        assertThat(breaker.remaining()).isEqualTo(Duration.ofSeconds(2));
        breaker.succeeded();
        assertThat(breaker.state()).isEqualTo(CircuitState.OPEN);
        pass(Duration.ofSeconds(2));
        breaker.succeeded();
        assertThat(breaker.state()).as("no call has tried").isEqualTo(CircuitState.HALF_OPEN);
    }

    @Test
    void oneThatNeverOpensDoesNot() {
        CircuitBreaker never = new CircuitBreaker(CircuitBreakerOptions.never(), () -> now);
        for (int i = 0; i < 1000; i++) {
            never.failed();
        }
        assertThat(never.tryAcquire()).isTrue();
    }
}
