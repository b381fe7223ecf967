package io.sluice.experts.backend;

import java.lang.foreign.MemorySegment;

/** Memory of this rank from which a back end can put. */
public interface CommMemory {
    /**
     * Returns the length.
     *
     * @return bytes
     */
    long bytes();

    /**
     * Returns the bytes.
     *
     * @return host memory of {@link #bytes()} bytes, usable on any thread until the memory is freed
     * @throws io.sluice.engine.MemoryNotAccessibleException if it is memory of a device
     */
    MemorySegment segment();
}
