package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A combine of normal mode. */
final class NormalCombineCall extends NormalCall {
    final NormalHandle handle;
    private final AtomicBoolean called = new AtomicBoolean();
    private @Nullable MemoryRegion region;
    private @Nullable MemoryRegion outRegion;
    private @Nullable ExpertCallback<MemoryRegion> callback;
    MemorySegment y = MemorySegment.NULL;
    long yOffset;

    @Nullable
    MemorySegment bias;

    long biasOffset;
    MemorySegment out = MemorySegment.NULL;
    long outOffset;

    NormalCombineCall(NormalHandle handle) {
        this.handle = handle;
    }

    /**
     * Reserves it.
     *
     * @throws IllegalStateException if a combine with its handle has not ended
     */
    void call() {
        if (!called.compareAndSet(false, true)) {
            throw new IllegalStateException("a combine with this handle has not ended");
        }
    }

    void set(
            MemoryRegion newRegion,
            long newYOffset,
            @Nullable MemoryRegion newBias,
            long newBiasOffset,
            MemoryRegion newOut,
            long newOutOffset,
            ExpertCallback<MemoryRegion> newCallback) {
        region = newRegion;
        y = newRegion.segment();
        yOffset = newYOffset;
        bias = newBias == null ? null : newBias.segment();
        biasOffset = newBiasOffset;
        outRegion = newOut;
        out = newOut.segment();
        outOffset = newOutOffset;
        callback = newCallback;
    }

    MemoryRegion region() {
        return Objects.requireNonNull(region);
    }

    @Override
    void end(@Nullable SluiceException error) {
        ExpertCallback<MemoryRegion> ended = Objects.requireNonNull(callback);
        MemoryRegion result = Objects.requireNonNull(outRegion);
        region = null;
        outRegion = null;
        y = MemorySegment.NULL;
        bias = null;
        out = MemorySegment.NULL;
        callback = null;
        called.set(false);
        handle.release();
        tell(ended, result, error);
    }
}
