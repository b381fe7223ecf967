package io.sluice.directory.contract;

import io.sluice.engine.EngineAddress;

/** An engine that has published itself and can be killed. */
public interface ContractPublisher extends AutoCloseable {
    /** The name of its only region, which peers may read and write. */
    String REGION = "pages";

    /** The length of that region in bytes. */
    long REGION_BYTES = 1 << 20;

    /**
     * Returns its address.
     *
     * @return the address, with the engine's id
     */
    EngineAddress address();

    /**
     * Returns its epoch.
     *
     * @return the epoch
     */
    long epoch();

    /** Kills it as SIGKILL does: it notifies neither its peers nor the directory. */
    void kill();

    /** Kills it unless it is dead. */
    @Override
    void close();
}
