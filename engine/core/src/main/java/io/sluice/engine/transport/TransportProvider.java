package io.sluice.engine.transport;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransportStatus;

/** Determines whether a transport works on this machine, and opens it. Loaded by {@link java.util.ServiceLoader}. */
public interface TransportProvider {
    /**
     * Returns the transport's name in options, metrics and the bootstrap.
     *
     * @return lower-case letters and digits, at most 16
     */
    String name();

    /**
     * Returns the rank among the transports that two engines have in common, if the options name none.
     *
     * @return a number; the highest is preferred
     */
    int preference();

    /**
     * Tries the transport without lasting effect. Must not throw.
     *
     * @return available, as it is by default, or why not
     */
    default TransportStatus status() {
        return new TransportStatus(name(), null, null);
    }

    /**
     * Opens the transport for one engine.
     *
     * @param options the engine's options
     * @return the transport
     */
    Transport open(EngineOptions options);
}
