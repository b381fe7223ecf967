package io.sluice.directory.contract;

import io.sluice.engine.EngineAddress;

/** An engine that has published itself and dies without a word. */
public interface ContractPublisher extends AutoCloseable {
    /** The name of its one region, which peers may read and write. */
    String REGION = "pages";

    /** How long that is. */
    long REGION_BYTES = 1 << 20;

    /**
     * Where it listens.
     *
     * @return its address, with its identity
     */
    EngineAddress address();

    /**
     * Its run.
     *
     * @return the engine's epoch
     */
    long epoch();

    /** As by SIGKILL: no goodbye, neither to its peers nor to the directory. */
    void kill();

    /** Kills it if it lives. */
    @Override
    void close();
}
