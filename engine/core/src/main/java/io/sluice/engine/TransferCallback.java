package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * Receives the terminal signal of a transfer. It is called on a poller's thread: it must not block, and the time it
 * takes delays every connection of that poller. It may start any number of further transfers.
 *
 * <p>On shm the submitting thread may execute a small write or read itself. The callback is then called on that thread
 * before the submitting call returns or, if the thread already is in such a callback, immediately after that callback
 * returns.
 */
@FunctionalInterface
public interface TransferCallback {
    /**
     * Called exactly once, when the transfer has ended.
     *
     * @param transfer the transfer
     * @param error {@code null} for success
     */
    void terminated(Transfer transfer, @Nullable SluiceException error);
}
