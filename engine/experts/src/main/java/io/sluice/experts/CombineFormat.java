package io.sluice.experts;

/** How low-latency combine carries the results of the experts. */
public enum CombineFormat {
    /** As they are: bfloat16. */
    BF16,

    /** Ten bits on a logarithmic scale for each 128 channels that gain by it; the others as they are. */
    LOGFMT
}
