package io.sluice.experts.cuda;

import io.sluice.experts.LowLatencyResult;

/** A prepared low-latency dispatch: each time that it is started its result has what is in the inputs when the GPU comes to it. */
public final class GpuDispatch extends GpuLowLatencyCall {
    GpuDispatch(LowLatencyCall call) {
        super(call);
    }

    /**
     * Returns what the dispatch brings, and the handle of its combine.
     *
     * @return always the same object
     */
    public LowLatencyResult result() {
        return call().result();
    }

    /**
     * Closes the result, and lets the regions go once what was started is done. After a first half this takes effect when the second was
     * started. A second close does nothing.
     */
    @Override
    public void close() {
        closeRegions();
        result().close();
    }
}
