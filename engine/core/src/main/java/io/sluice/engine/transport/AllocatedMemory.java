package io.sluice.engine.transport;

import io.sluice.engine.RegionMemory;

/** Memory that a transport has allocated for a region. Thread-safe. */
public interface AllocatedMemory extends AutoCloseable {
    /**
     * Returns the memory, zeroed and page-aligned.
     *
     * @return the memory, which any thread may access
     */
    RegionMemory memory();

    /**
     * Returns the transport's registration of the memory, which replaces one by {@link Transport#register}.
     *
     * @return the registration, which the engine closes before this object
     */
    RegisteredMemory registration();

    /** Releases the memory, which no region uses any more. May block. Called once. */
    @Override
    void close();
}
