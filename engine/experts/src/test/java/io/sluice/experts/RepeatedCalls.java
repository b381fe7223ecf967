package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A rank that dispatches and combines again and again: each call comes from the callback of the one before, on the loop.
 */
final class RepeatedCalls {
    private final ExpertBuffer buffer;
    private final MemoryRegion x;
    private final MemoryRegion topkIdx;
    private final MemoryRegion weights;
    private final MemoryRegion out;
    private final int tokens;
    private final DispatchOptions dispatchOptions;
    private final CombineOptions combineOptions;
    // called after each round: whether there is another
    private final BooleanSupplier another;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final ExpertCallback<LowLatencyResult> dispatched = this::dispatched;
    private final ExpertCallback<MemoryRegion> combined = this::combined;
    private @Nullable LowLatencyResult result;

    RepeatedCalls(
            ExpertBuffer buffer,
            MemoryRegion x,
            MemoryRegion topkIdx,
            MemoryRegion weights,
            MemoryRegion out,
            int tokens,
            DispatchOptions dispatchOptions,
            CombineOptions combineOptions,
            BooleanSupplier another) {
        this.buffer = buffer;
        this.x = x;
        this.topkIdx = topkIdx;
        this.weights = weights;
        this.out = out;
        this.tokens = tokens;
        this.dispatchOptions = dispatchOptions;
        this.combineOptions = combineOptions;
        this.another = another;
    }

    /** Begins; completes when there is no other round, or with the first error. */
    CompletableFuture<Void> start() {
        dispatch();
        return ended;
    }

    private void dispatch() {
        try {
            buffer.lowLatencyDispatch(x, 0, topkIdx, 0, tokens, dispatchOptions, dispatched);
        } catch (SluiceException e) {
            ended.completeExceptionally(e);
        }
    }

    private void dispatched(@Nullable LowLatencyResult arrived, @Nullable SluiceException error) {
        if (arrived == null) {
            ended.completeExceptionally(Objects.requireNonNull(error));
            return;
        }
        result = arrived;
        try {
            buffer.lowLatencyCombine(
                    arrived, arrived.combineBuffer(), 0, topkIdx, 0, weights, 0, out, 0, combineOptions, combined);
        } catch (SluiceException e) {
            ended.completeExceptionally(e);
        }
    }

    private void combined(@Nullable MemoryRegion sums, @Nullable SluiceException error) {
        if (error != null) {
            ended.completeExceptionally(error);
            return;
        }
        Objects.requireNonNull(result).close();
        if (another.getAsBoolean()) {
            dispatch();
        } else {
            ended.complete(null);
        }
    }
}
