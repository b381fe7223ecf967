package io.sluice.engine.transport;

import java.lang.foreign.MemorySegment;

/** Memory that a transport has made for a region. Any thread. */
public interface AllocatedMemory extends AutoCloseable {
    /**
     * The bytes, zeroed and aligned to pages.
     *
     * @return the segment, which any thread may use
     */
    MemorySegment segment();

    /**
     * What the transport knows of the memory, in place of what {@link Transport#register} would give.
     *
     * @return the registration, closed by the engine before this
     */
    RegisteredMemory registration();

    /** Gives the memory back. No region uses it any more. It may block. Called once. */
    @Override
    void close();
}
