package io.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class SteadyRoundsTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void whatFailsOnASteadyMachineFails() {
        AssertionError error = new AssertionError("of this test");
        assertThatThrownBy(() -> SteadyRounds.holds(
                        SECOND,
                        timeout -> {
                            throw error;
                        },
                        () -> SECOND.dividedBy(2)))
                .isSameAs(error);
    }

    @Test
    void whatFailsWhileThreadsAreHeldUpIsRepeated() {
        assertThat(SteadyRounds.holds(
                        SECOND,
                        timeout -> {
                            throw new AssertionError("of this test");
                        },
                        () -> SECOND))
                .isFalse();
    }

    @Test
    void whatFailsWithTheLongestTimeoutFails() {
        assertThatThrownBy(() -> SteadyRounds.holds(
                        Patience.BOUND,
                        timeout -> {
                            throw new IllegalStateException("of this test");
                        },
                        () -> Patience.BOUND))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void whatHoldsIsRunOnce() {
        List<Duration> timeouts = new ArrayList<>();
        SteadyRounds.run(SECOND, timeouts::add);
        assertThat(timeouts).containsExactly(SteadyRounds.first(SECOND));
    }

    @Test
    void threadsThatOutnumberTheProcessorsAreSeenToWait() {
        assumeTrue(Files.isReadable(Path.of("/proc/self/schedstat")), "this kernel does not count who waits");
        AtomicBoolean stop = new AtomicBoolean();
        try {
            for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
                Thread.ofPlatform().daemon().start(() -> {
                    while (!stop.get()) {
                        Thread.onSpinWait();
                    }
                });
            }
            Patience.until("one is seen", () -> {
                HeldUpThreads threads = new HeldUpThreads();
                Patience.pause(Duration.ofMillis(200));
                return threads.longest().compareTo(Duration.ofMillis(1)) > 0;
            });
        } finally {
            stop.set(true);
        }
    }
}
