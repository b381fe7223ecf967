package io.sluice.engine.progress;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;

/** Starts pollers for a test, and stops them after it. */
abstract class PollerFixture {
    final List<Poller> pollers = new ArrayList<>();
    final AtomicInteger failures = new AtomicInteger();

    @AfterEach
    void stop() {
        pollers.forEach(poller -> Patience.await(poller.stop()));
        assertThat(failures).hasValue(0);
    }

    Poller poller(Duration spin) {
        Poller poller = new Poller(
                "tested poller",
                0,
                PatientOptions.builder().spin(spin).yield(spin).build(),
                failed -> failures.incrementAndGet());
        pollers.add(poller);
        poller.start();
        return poller;
    }

    Poller poller() {
        return poller(Duration.ZERO);
    }

    /** Runs a task on the poller's thread and gives its result. */
    static <T> T on(Poller poller, Supplier<T> task) {
        CompletableFuture<T> done = new CompletableFuture<>();
        poller.execute(() -> {
            try {
                done.complete(task.get());
            } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
            }
        });
        return Patience.await(done);
    }
}
