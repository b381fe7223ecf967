package io.sluice.experts.cuda;

import io.sluice.experts.ExpertCallKind;

/** A prepared combine of normal mode. */
public final class GpuNormalCombine extends GpuNormalCall {
    private final GpuNormalHandle handle;

    GpuNormalCombine(CallOwner owner, Prepared prepared, GpuNormalHandle handle) {
        super(owner, prepared, GpuExpertCounters.Counted.of(ExpertCallKind.COMBINE, handle.tokens()));
        this.handle = handle;
    }

    @Override
    void ensureStartable() {
        handle.ensureStarted();
    }

    @Override
    boolean isEnabledBy(GpuNormalCall earlier) {
        return GpuNormalDispatch.isFilledBy(handle, earlier);
    }

    @Override
    void started(long number) {
        // nothing is kept
    }

    @Override
    void release() {
        // has nothing but the regions
    }
}
