package io.sluice.experts.cuda;

import io.sluice.experts.ExpertCallKind;
import org.jspecify.annotations.Nullable;

/** A prepared dispatch of normal mode, and memory of the buffer for its result, which each start fills again. */
public final class GpuNormalDispatch extends GpuNormalCall {
    private final GpuNormalResult result;
    private final GpuNormalHandle handle;
    // null with a handle
    private final @Nullable GpuNormalLayout layout;

    GpuNormalDispatch(
            CallOwner owner,
            Prepared prepared,
            GpuNormalResult result,
            GpuNormalHandle handle,
            @Nullable GpuNormalLayout layout) {
        super(owner, prepared, GpuExpertCounters.Counted.of(ExpertCallKind.DISPATCH, handle.tokens()));
        this.result = result;
        this.handle = handle;
        this.layout = layout;
    }

    /**
     * Returns what each start fills.
     *
     * @return always the same object
     */
    public GpuNormalResult result() {
        return result;
    }

    /**
     * Returns what a combine and a later {@linkplain GpuNormalMode#prepareDispatchAgain dispatch} of the same tokens need. It outlives the
     * dispatch, and is closed apart from it.
     *
     * @return always the same object
     */
    public GpuNormalHandle handle() {
        return handle;
    }

    @Override
    void ensureStartable() {
        if (layout == null) {
            handle.ensureStarted();
        } else if (!layout.isStarted()) {
            throw new IllegalStateException("the layout of the dispatch has not been started");
        }
    }

    @Override
    boolean isEnabledBy(GpuNormalCall earlier) {
        return layout == null ? isFilledBy(handle, earlier) : earlier == layout;
    }

    /** Whether a call fills a handle. */
    static boolean isFilledBy(GpuNormalHandle handle, GpuNormalCall call) {
        return call instanceof GpuNormalDispatch dispatch && dispatch.layout != null && dispatch.handle == handle;
    }

    @Override
    void started(long number) {
        result.filledBy(number);
        if (layout != null) {
            handle.started();
        }
    }

    @Override
    void release() {
        owner().freeSlot(result.slot());
    }
}
