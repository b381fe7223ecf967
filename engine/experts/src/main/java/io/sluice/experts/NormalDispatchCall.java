package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A dispatch of normal mode. */
final class NormalDispatchCall extends NormalCall {
    private final NormalRows rows;
    private @Nullable MemoryRegion region;
    private @Nullable NormalHandle handle;
    private @Nullable ExpertCallback<NormalResult> callback;
    MemorySegment x = MemorySegment.NULL;
    long xOffset;
    MemorySegment choices = MemorySegment.NULL;
    long choicesOffset;
    MemorySegment weights = MemorySegment.NULL;
    long weightsOffset;
    DispatchFormat format = DispatchFormat.BF16;
    int alignment;
    int worst;
    /** Whether the handle is of an earlier dispatch. */
    boolean again;

    NormalDispatchCall(NormalRows rows) {
        this.rows = rows;
    }

    void set(
            MemoryRegion newRegion,
            long offset,
            NormalHandle newHandle,
            NormalOptions options,
            ExpertCallback<NormalResult> newCallback) {
        region = newRegion;
        x = newRegion.segment();
        xOffset = offset;
        handle = newHandle;
        format = options.format();
        alignment = options.expertAlignment();
        worst = options.worstTokens();
        callback = newCallback;
    }

    NormalRows rows() {
        return rows;
    }

    MemoryRegion region() {
        return Objects.requireNonNull(region);
    }

    NormalHandle handle() {
        return Objects.requireNonNull(handle);
    }

    @Override
    void end(@Nullable SluiceException error) {
        ExpertCallback<NormalResult> ended = Objects.requireNonNull(callback);
        NormalHandle used = handle();
        region = null;
        x = MemorySegment.NULL;
        choices = MemorySegment.NULL;
        weights = MemorySegment.NULL;
        callback = null;
        if (error != null) {
            rows.failed();
        } else if (!again) {
            used.complete();
        }
        used.release();
        tell(ended, rows, error);
    }
}
