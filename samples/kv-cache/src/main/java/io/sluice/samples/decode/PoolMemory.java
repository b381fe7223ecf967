package io.sluice.samples.decode;

/** When the kernel finds the memory of a page pool. */
public enum PoolMemory {
    /** As pages are first written to, each of which waits for it. */
    ON_DEMAND,
    /** Before a prefill process is served. */
    TOUCHED
}
