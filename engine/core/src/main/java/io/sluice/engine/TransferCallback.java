package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * Receives the one terminal signal of a transfer. It is called on a poller's thread: it must not block, and what it takes
 * is taken from every connection of that poller. Starting further transfers from it is fine, in any number.
 *
 * <p>On shm a small write or read may be carried out by the thread that starts it; its callback is then called on that thread,
 * before the call returns, or, if the thread is in such a callback already, right after that one has returned.
 */
@FunctionalInterface
public interface TransferCallback {
    /**
     * The transfer has ended.
     *
     * @param transfer the transfer
     * @param error {@code null} for success
     */
    void terminated(Transfer transfer, @Nullable SluiceException error);
}
