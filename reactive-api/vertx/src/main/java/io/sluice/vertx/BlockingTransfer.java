package io.sluice.vertx;

import io.sluice.engine.TransferCancelledException;
import io.vertx.core.Context;
import java.util.function.Function;

/** Blocks until a transfer ends. */
final class BlockingTransfer {
    private BlockingTransfer() {}

    static <T> T await(CancellableTransfers transfers, Function<CancellableTransfers, TransferHandle<T>> submission) {
        if (Context.isOnVertxThread() && !Thread.currentThread().isVirtual()) {
            throw new IllegalStateException(
                    "the thread " + Thread.currentThread().getName()
                            + " must not wait: use a virtual thread, or the futures of TransferConnection");
        }
        TransferHandle<T> transfer = submission.apply(transfers);
        try {
            return transfer.result().await();
        } catch (Exception failure) {
            if (isInterruption(failure)) {
                transfer.cancel();
                Thread.currentThread().interrupt();
                throw new TransferCancelledException("interrupted while waiting for the transfer");
            }
            throw failure;
        }
    }

    /** The context's await throws InterruptedException without declaring it. */
    private static boolean isInterruption(Exception failure) {
        return failure instanceof InterruptedException;
    }
}
