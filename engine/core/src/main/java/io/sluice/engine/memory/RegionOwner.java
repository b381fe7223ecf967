package io.sluice.engine.memory;

/** The parts of an engine that its regions need. */
public interface RegionOwner {
    /** Returns the keys that issue the region's descriptors. */
    DescriptorKeys descriptorKeys();

    /** Called when the region grants no more leases: peers must not find it any more. */
    void regionClosing(LocalRegion region);

    /**
     * Called when the last lease of a closing region has ended.
     *
     * @param giveBack releases the memory; may block
     */
    void regionClosed(LocalRegion region, Runnable giveBack);
}
