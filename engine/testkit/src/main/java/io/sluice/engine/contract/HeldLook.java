package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.StartEvent;
import io.sluice.engine.Transfer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** A look at a start event that goes on while its transfer ends. */
final class HeldLook {
    private final StartEvent.Listener listener;
    private final CountDownLatch release = new CountDownLatch(1);
    private final CompletableFuture<Boolean> looked = new CompletableFuture<>();
    private final CompletableFuture<Void> quiesced;

    /** Begins it, on a thread of its own. */
    HeldLook(StartEvent.Listener listener, Transfer transfer) {
        this.listener = listener;
        this.quiesced = transfer.quiesced();
        CountDownLatch looking = new CountDownLatch(1);
        Thread.ofVirtual()
                .start(() -> looked.complete(listener.look(() -> {
                    looking.countDown();
                    await(release);
                })));
        await(looking);
    }

    /** The transfer has ended. */
    void assertQuiescentOnlyOnceItIsOver(Transfer transfer) {
        CompletableFuture<Void> later = transfer.quiesced();
        assertThat(quiesced).isNotDone();
        assertThat(later).isNotDone();
        assertThat(listener.isAwaited()).isFalse();
        assertThat(listener.look(() -> {
                    throw new AssertionError("the event may be gone");
                }))
                .isFalse();
        release.countDown();
        await(quiesced);
        await(later);
        await(transfer.quiesced());
        assertThat(await(looked)).isTrue();
    }
}
