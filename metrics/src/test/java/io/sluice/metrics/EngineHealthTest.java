package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
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
            assertThat(health(engines.target()).live()).isEqualTo(new EngineHealth.Status(true, "up"));
            assertThat(health(engines.target()).ready().isUp()).isTrue();
            assertThat(health(engines.source()).ready().isUp())
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
                Patience.await(release);
            });
            Patience.await(held);
            EngineHealth health = EngineHealth.of(engines.target()).withPatience(Duration.ofMillis(20));
            assertThat(health.live().isUp()).isFalse();
            assertThat(health.ready().detail()).contains("a poller has not ended a duty cycle for 20 ms");
            release.countDown();
            Awaitility.await().atMost(Patience.BOUND).until(() -> health.live().isUp());
        }
    }

    @Test
    void aClosedEngineDoesNotLive() throws Exception {
        LinkedEngines engines = LinkedEngines.open();
        engines.close();
        assertThat(EngineHealth.of(engines.target()).live().isUp()).isFalse();
        assertThat(EngineHealth.of(engines.target()).ready().detail()).contains("closed");
    }

    /** Of pollers that a busy machine may hold up for a while. */
    private static EngineHealth health(TransferEngine engine) {
        return EngineHealth.of(engine).withPatience(Patience.BOUND);
    }
}
