package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CompletionEvent;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Records how an event was completed, and whether the transfer's callback had been called by then. */
final class RecordedCompletion implements CompletionEvent {
    private final boolean onPollersOnly;
    private final AtomicInteger count = new AtomicInteger();
    private final TerminalSignal signal = new TerminalSignal();
    private volatile @Nullable SluiceException error;
    private volatile boolean afterTheCallback;
    private volatile @Nullable Thread thread;

    RecordedCompletion(TransportUnderTest transport) {
        onPollersOnly = !transport.carriesOutInTheCall();
    }

    @Override
    public void complete(@Nullable SluiceException cause) {
        count.incrementAndGet();
        error = cause;
        afterTheCallback = signal.ended();
        thread = Thread.currentThread();
    }

    int completions() {
        return count.get();
    }

    /** The callback for the same transfer. */
    TerminalSignal signal() {
        return signal;
    }

    TransferOptions options() {
        return TransferOptions.defaults().completeInto(this);
    }

    void assertOnceBeforeTheCallback() {
        SluiceException ended = signal.await().orElse(null);
        assertThat(count).as("completions").hasValue(1);
        assertThat(error).isSameAs(ended);
        assertThat(afterTheCallback).as("after the callback").isFalse();
        assertThat(thread).as("the callback's thread").isSameAs(signal.thread());
        if (onPollersOnly) {
            assertThat(TransferEngine.isPollerThread(signal.thread()))
                    .as("on a poller")
                    .isTrue();
        }
        Patience.pause(Duration.ofMillis(20));
        assertThat(count).as("completions").hasValue(1);
        assertThat(signal.count()).isEqualTo(1);
    }
}
