package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.TransferOptions;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Quiet where a completed write is not visible at the target yet. */
class QuietTest {
    private final SteppedFlow stepped = new SteppedFlow();

    QuietTest() {
        stepped.endpoint.holdsVisibility = true;
        SteppedFlow.start(stepped.write(TransferOptions.defaults(), (transfer, error) -> {}));
    }

    @Test
    void itWaitsUntilTheWritesAreVisible() {
        CompletableFuture<Void> quiet = stepped.flow.quiet();
        stepped.settle();
        assertThat(stepped.flow.pending()).isZero();
        assertThat(quiet).isNotDone();
        stepped.endpoint.makeAllVisible();
        assertThat(quiet).isCompleted();
    }

    @Test
    void itAsksOnlyOnceTheWritesHaveCompleted() {
        CompletableFuture<Void> quiet = stepped.flow.quiet();
        assertThat(stepped.loop.runNext()).isTrue();
        stepped.endpoint.makeAllVisible();
        assertThat(quiet).isNotDone();
        stepped.settle();
        stepped.endpoint.makeAllVisible();
        assertThat(quiet).isCompleted();
    }

    @Test
    void flushDoesNotWaitForThat() {
        CompletableFuture<Void> flush = stepped.flow.flush();
        stepped.settle();
        assertThat(flush).isCompleted();
    }

    @Test
    void itFailsIfTheConnectionEndsBefore() {
        CompletableFuture<Void> quiet = stepped.flow.quiet();
        stepped.settle();
        stepped.end();
        assertThat(quiet).isCompletedExceptionally();
    }
}
