package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The same as {@link RepeatedCalls} in normal mode, with a further dispatch by the handle. */
final class RepeatedNormalCalls {
    private static final NormalOptions OPTIONS = NormalOptions.defaults();

    private final ExpertBuffer buffer;
    private final MemoryRegion x;
    private final MemoryRegion topkIdx;
    private final MemoryRegion weights;
    private final MemoryRegion y;
    private final NormalLayout layout;
    // called after each round: whether there is another
    private final BooleanSupplier another;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private @Nullable NormalHandle handle;

    /**
     * Creates it, with as many tokens as a rank may have.
     *
     * @param y for all rows that may arrive; the sums go into x
     */
    RepeatedNormalCalls(
            ExpertBuffer buffer,
            MemoryRegion x,
            MemoryRegion topkIdx,
            MemoryRegion weights,
            MemoryRegion y,
            BooleanSupplier another) {
        this.buffer = buffer;
        this.x = x;
        this.topkIdx = topkIdx;
        this.weights = weights;
        this.y = y;
        this.another = another;
        this.layout = buffer.layout(topkIdx, 0, buffer.options().maxTokensPerRank(), null);
    }

    /** Begins; completes when there is no other round, or with the first error. */
    CompletableFuture<Void> start() {
        call(() -> buffer.dispatch(x, 0, topkIdx, 0, weights, 0, layout, OPTIONS, this::dispatched));
        return ended;
    }

    private void call(Runnable call) {
        try {
            call.run();
        } catch (SluiceException e) {
            ended.completeExceptionally(e);
        }
    }

    private void dispatched(@Nullable NormalResult result, @Nullable SluiceException error) {
        if (result == null || error != null) {
            ended.completeExceptionally(Objects.requireNonNull(error));
            return;
        }
        NormalHandle own = result.handle();
        handle = own;
        result.close();
        call(() -> buffer.dispatchAgain(x, 0, own, OPTIONS, this::dispatchedAgain));
    }

    private void dispatchedAgain(@Nullable NormalResult result, @Nullable SluiceException error) {
        if (result == null || error != null) {
            ended.completeExceptionally(Objects.requireNonNull(error));
            return;
        }
        result.close();
        call(() -> buffer.combine(Objects.requireNonNull(handle), y, 0, null, 0, x, 0, null, this::combined));
    }

    private void combined(@Nullable MemoryRegion sums, @Nullable SluiceException error) {
        if (error != null) {
            ended.completeExceptionally(error);
            return;
        }
        Objects.requireNonNull(handle).close();
        if (another.getAsBoolean()) {
            start();
        } else {
            ended.complete(null);
        }
    }
}
