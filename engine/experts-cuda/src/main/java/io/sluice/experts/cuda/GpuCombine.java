package io.sluice.experts.cuda;

/** A prepared low-latency combine, which is started once for each dispatch of its handle. */
public final class GpuCombine extends GpuLowLatencyCall {
    GpuCombine(LowLatencyCall call) {
        super(call);
    }

    /**
     * Lets inputs and output go once what was started is done; after a first half, when the second is. The handle stays as it is. A second
     * close does nothing.
     */
    @Override
    public void close() {
        closeRegions();
    }
}
