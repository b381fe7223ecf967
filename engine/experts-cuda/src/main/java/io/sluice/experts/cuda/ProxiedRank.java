package io.sluice.experts.cuda;

import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferPriority;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A rank whose memory this rank's GPU does not reach.
 *
 * @param rank the rank
 * @param window its window, which transfers reach
 * @param mirror memory of this rank's GPU, laid out as the window, where kernels store what the host carries there
 */
record ProxiedRank(int rank, RemoteRegion window, MemoryRegion mirror) {
    static final TransferOptions OPTIONS = TransferOptions.defaults().withPriority(TransferPriority.HIGH);

    // as many as a connection has lanes at most, among which transfers that are under way together are divided
    private static final int FIRST_WRITES = 16;

    /** Whether it is there, as far as is known. */
    boolean isConnected() {
        return window.connection().state() == ConnectionState.OPEN;
    }

    /**
     * Carries zeros to words that only this rank writes, in each way that calls do: what that takes of the driver, on both sides, it
     * gives only while no kernel waits.
     *
     * @param offsets of the words
     * @return completes when they are there
     */
    CompletableFuture<Void> prepare(long... offsets) {
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < FIRST_WRITES; i++) {
            ends.add(ended(end -> window.connection()
                    .write(
                            mirror,
                            offsets[0],
                            window,
                            offsets[0],
                            Long.BYTES,
                            OPTIONS,
                            (transfer, error) -> end(end, error))));
            ends.add(ended(end -> window.connection()
                    .writePages(
                            mirror,
                            offsets,
                            window,
                            offsets,
                            Long.BYTES,
                            OPTIONS,
                            (transfer, failed, error) -> end(end, error))));
        }
        ends.add(ended(end -> window.connection()
                .put(window, offsets[0], 0, Long.BYTES, OPTIONS, (transfer, error) -> end(end, error))));
        return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
    }

    private static CompletableFuture<Void> ended(Consumer<CompletableFuture<Void>> start) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        try {
            start.accept(end);
        } catch (SluiceException e) {
            end.completeExceptionally(e);
        }
        return end;
    }

    private static void end(CompletableFuture<Void> end, @Nullable SluiceException error) {
        if (error == null) {
            end.complete(null);
        } else {
            end.completeExceptionally(error);
        }
    }
}
