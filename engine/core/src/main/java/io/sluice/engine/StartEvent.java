package io.sluice.engine;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Something outside of the engine that must happen before a transfer may touch memory, such as a computation on a device
 * that fills the source. See {@link TransferOptions#startAfter(StartEvent)}.
 */
@FunctionalInterface
public interface StartEvent {
    /**
     * Adds a listener. Called once for each run of a transfer, on the thread that submits it. A listener cannot be
     * withdrawn: an event that never happens keeps a few bytes for each run that waited for it.
     *
     * @param listener to be called once when the event has happened, from any thread, or at once if it has already
     */
    void whenHappened(Listener listener);

    /** Called when the event has happened. */
    @FunctionalInterface
    interface Listener {
        /**
         * The event has happened, or never will. Only the first call counts.
         *
         * @param error {@code null} if it has happened; otherwise why it never will, and the transfer fails with
         *     {@link StartEventException}
         */
        void happened(@Nullable Throwable error);
    }

    /**
     * The completion of a stage.
     *
     * @param stage completes when the transfer may start
     * @return the event
     */
    static StartEvent of(CompletionStage<?> stage) {
        return listener -> stage.whenComplete((value, error) -> listener.happened(error));
    }
}
