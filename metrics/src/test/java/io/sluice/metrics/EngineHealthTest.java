package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class EngineHealthTest {

    @Test
    void anIdleEngineLivesAndIsReady() throws Exception {
        try (LinkedEngines engines = LinkedEngines.open()) {
            // long enough for the pollers to park
            TimeUnit.MILLISECONDS.sleep(50);
            assertThat(EngineHealth.of(engines.target()).live()).isEqualTo(new EngineHealth.Status(true, "up"));
            assertThat(EngineHealth.of(engines.target()).ready().isUp()).isTrue();
            assertThat(EngineHealth.of(engines.source()).ready().isUp())
                    .as("it was not to listen")
                    .isTrue();
        }
    }

    @Test
    void aPollerThatIsHeldUpIsTold() throws Exception {
        try (LinkedEngines engines = LinkedEngines.open()) {
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            engines.target().onConnection(connection -> {
                held.countDown();
                awaitQuietly(release);
            });
            assertThat(held.await(LinkedEngines.BOUND.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            EngineHealth health = EngineHealth.of(engines.target()).withPatience(Duration.ofMillis(20));
            assertThat(health.live().isUp()).isFalse();
            assertThat(health.ready().detail()).contains("a poller has not ended a duty cycle for 20 ms");
            release.countDown();
            Awaitility.await().until(() -> health.live().isUp());
        }
    }

    @Test
    void aClosedEngineDoesNotLive() throws Exception {
        LinkedEngines engines = LinkedEngines.open();
        engines.close();
        assertThat(EngineHealth.of(engines.target()).live().isUp()).isFalse();
        assertThat(EngineHealth.of(engines.target()).ready().detail()).contains("closed");
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(LinkedEngines.BOUND.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
