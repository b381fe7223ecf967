package io.sluice.engine;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Something outside the engine that must happen before a transfer may touch memory, such as a computation on a device
 * that fills the source. See {@link TransferOptions#startAfter(StartEvent)}.
 */
@FunctionalInterface
public interface StartEvent {
    /**
     * Adds a listener. The engine calls this once for each run of a transfer, on the submitting thread. A listener
     * cannot be removed: an event that never happens keeps a few bytes for each run that waited for it.
     *
     * @param listener called once when the event has happened, from any thread, or inside this call if it already has
     */
    void whenHappened(Listener listener);

    /** Called when the event has happened. */
    @FunctionalInterface
    interface Listener {
        /**
         * Says that the event has happened or never will. Only the first call counts.
         *
         * @param error {@code null} if the event has happened; otherwise the reason why it never will, with which the
         *     transfer fails as a {@link StartEventException}
         */
        void happened(@Nullable Throwable error);

        /**
         * Returns whether the transfer still waits for the event. Any thread.
         *
         * @return false once the transfer has ended; true by default
         */
        default boolean isAwaited() {
            return true;
        }

        /**
         * Looks at an event that is polled, unless the transfer waits for it no more. Its owner may destroy it once the
         * transfer has ended and is {@linkplain Transfer#quiesced quiescent}, which it is not during a look. Any thread.
         *
         * @param look asks whether the event has happened, and does not wait for it
         * @return false if the transfer has ended, and the event must not be looked at
         */
        default boolean look(Runnable look) {
            if (!isAwaited()) {
                return false;
            }
            look.run();
            return true;
        }
    }

    /**
     * Returns an event for the completion of a stage.
     *
     * @param stage completes when the transfer may start
     * @return the event
     */
    static StartEvent of(CompletionStage<?> stage) {
        return listener -> stage.whenComplete((value, error) -> listener.happened(error));
    }
}
