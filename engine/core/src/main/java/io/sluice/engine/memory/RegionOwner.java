package io.sluice.engine.memory;

/** The engine of a region, as far as the region needs it. */
public interface RegionOwner {
    /** Issues the region's descriptors. */
    DescriptorKeys descriptorKeys();

    /** The region gives no more leases: peers must not find it any more. */
    void regionClosing(LocalRegion region);

    /**
     * The last lease of a closing region has ended.
     *
     * @param giveBack gives the memory back, and may block
     */
    void regionClosed(LocalRegion region, Runnable giveBack);
}
