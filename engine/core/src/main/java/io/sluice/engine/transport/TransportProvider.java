package io.sluice.engine.transport;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransportStatus;
import java.util.function.ToLongFunction;

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
     * Returns whether the transport is opened only if the options name it.
     *
     * @return false by default: it is one of those that are opened if the options name none
     */
    default boolean byNameOnly() {
        return false;
    }

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

    /**
     * Opens the transport, near the devices whose memory the engine's other transports carry.
     *
     * @param options the engine's options
     * @param distances how far an RDMA device of a name is from the nearest of those devices, as {@link #distanceTo} says
     * @return a new transport
     * @throws io.sluice.engine.TransportUnavailableException if it cannot be used here; the message says what to do
     */
    default Transport open(EngineOptions options, ToLongFunction<String> distances) {
        return open(options);
    }

    /**
     * Returns how far an RDMA device is from the nearest device whose memory this transport carries.
     *
     * @param adapter the RDMA device's name, such as {@code mlx5_0}
     * @return less for a nearer one, and equal for those as far; {@link Long#MAX_VALUE}, the default, if nothing is known
     */
    default long distanceTo(String adapter) {
        return Long.MAX_VALUE;
    }
}
