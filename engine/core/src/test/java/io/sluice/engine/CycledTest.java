package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Signs of life of the pollers. */
class CycledTest {
    @Test
    void idlePollersAnswerEachTime() {
        try (TransferEngine engine =
                TransferEngine.open(PatientOptions.builder().pollers(3).build())) {
            for (int i = 0; i < 3; i++) {
                // long enough for them to park
                Patience.pause(Duration.ofMillis(20));
                Patience.await(engine.pingPollers());
            }
        }
    }

    @Test
    void oneThatIsHeldUpKeepsTheAnswerBack() {
        try (TransferEngine engine =
                TransferEngine.open(PatientOptions.builder().build())) {
            CountDownLatch release = new CountDownLatch(1);
            CompletableFuture<Boolean> held = new CompletableFuture<>();
            engine.onConnection(connection -> {
                held.complete(true);
                Patience.await(release);
            });
            engine.connect(engine.address());
            Patience.await(held);
            CompletableFuture<Void> pingPollers = engine.pingPollers();
            Patience.pause(Duration.ofMillis(50));
            assertThat(pingPollers).isNotDone();
            release.countDown();
            Patience.await(pingPollers);
        }
    }

    @Test
    void aClosedEngineSaysSo() {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder().build());
        engine.close();
        Patience.failure(engine.pingPollers(), ConnectionClosedException.class);
    }
}
