package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/** Receives the one terminal signal of an atomic operation. The rules of {@link TransferCallback} hold. */
@FunctionalInterface
public interface FetchCallback {
    /**
     * The operation has ended.
     *
     * @param transfer the operation
     * @param previous what the word held before; 0 if there is an error
     * @param error {@code null} for success
     */
    void terminated(Transfer transfer, long previous, @Nullable SluiceException error);
}
