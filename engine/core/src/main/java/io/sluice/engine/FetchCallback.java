package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/** Receives the terminal signal of an atomic operation. The rules of {@link TransferCallback} apply. */
@FunctionalInterface
public interface FetchCallback {
    /**
     * Called exactly once, when the operation has ended.
     *
     * @param transfer the operation
     * @param previous the word's previous value; 0 if there is an error
     * @param error {@code null} for success
     */
    void terminated(Transfer transfer, long previous, @Nullable SluiceException error);
}
