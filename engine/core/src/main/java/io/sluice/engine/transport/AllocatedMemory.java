package io.sluice.engine.transport;

import io.sluice.engine.RegionMemory;

/** Memory that a transport has made for a region. Any thread. */
public interface AllocatedMemory extends AutoCloseable {
    /**
     * The bytes, zeroed and aligned to pages.
     *
     * @return the memory, which any thread may use
     */
    RegionMemory memory();

    /**
     * The transport's registration of the memory, in place of the one that {@link Transport#register} would give.
     *
     * @return the registration, closed by the engine before this
     */
    RegisteredMemory registration();

    /** Gives the memory back. No region uses it any more. It may block. Called once. */
    @Override
    void close();
}
