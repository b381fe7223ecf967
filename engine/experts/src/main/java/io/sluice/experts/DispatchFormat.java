package io.sluice.experts;

/** How dispatch carries the elements of a token, and how the receiver finds them. */
public enum DispatchFormat {
    /** As they are: bfloat16, no scales. */
    BF16,

    /** Eight bits, e4m3 (finite), with a float32 scale for each 128 channels: element ≈ code · scale. */
    FP8,

    /** As {@link #FP8}, with scales rounded up to a power of two. */
    FP8_ROUNDED,

    /**
     * As {@link #FP8_ROUNDED}, with the scales received as exponents of eight bits, four in an int32, the lowest channels
     * in the lowest byte. The hidden length must be a multiple of 512.
     */
    FP8_UE8M0;

    /**
     * Returns whether elements are quantised.
     *
     * @return false for {@link #BF16} alone
     */
    public boolean isQuantised() {
        return this != BF16;
    }
}
