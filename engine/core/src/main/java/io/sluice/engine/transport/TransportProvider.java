package io.sluice.engine.transport;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransportStatus;

/** Finds out whether a transport works on this machine, and opens it. Loaded by {@link java.util.ServiceLoader}. */
public interface TransportProvider {
    /**
     * The transport's name, in options, metrics and the bootstrap.
     *
     * @return lower-case letters and digits, at most 16
     */
    String name();

    /**
     * The rank among the transports that two engines have in common, where the options name none.
     *
     * @return the highest is taken
     */
    int preference();

    /**
     * Tries the transport, without lasting effect. Never throws.
     *
     * @return available, as it is by default, or why not
     */
    default TransportStatus status() {
        return new TransportStatus(name(), null, null);
    }

    /**
     * Opens the transport for one engine.
     *
     * @param options of the engine
     * @return the transport
     */
    Transport open(EngineOptions options);
}
