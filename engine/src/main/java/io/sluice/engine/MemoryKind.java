package io.sluice.engine;

/** Where a region's bytes lie. */
public enum MemoryKind {
    /** Ordinary memory of the host, addressable by the processor. */
    HOST
}
