package io.sluice.engine.transport;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/**
 * The engine's services for an endpoint, and the endpoint's reports to the engine. To be called on the event loop only.
 */
public interface EndpointContext {
    /**
     * Returns the event loop of the connection.
     *
     * @return the loop
     */
    EventLoop loop();

    /**
     * Returns the engine's options.
     *
     * @return the options
     */
    EngineOptions options();

    /**
     * Returns the integrity checks that the two sides agreed on.
     *
     * @return constant
     */
    Integrity integrity();

    /**
     * Returns whether this side opened the connection.
     *
     * @return false if it accepted it
     */
    boolean initiator();

    /**
     * Finds a region that the peer has attached.
     *
     * @param handle the handle that the peer presents
     * @return the region, or {@code null} if the handle is unknown
     */
    @Nullable
    ExportedRegion exportedRegion(long handle);

    /**
     * Opens sockets to the peer, each bound to this connection by a MAC; the initiator calls it in {@link
     * Endpoint#begin}. {@link SocketLanes#laneOpened} is called for each, on both sides.
     *
     * @param count the number of lanes
     */
    void openLanes(int count);

    /**
     * Opens lanes as {@link #openLanes(int)} does, with TLS if requested.
     *
     * @param count the number of lanes
     * @param secured true only if the connection is {@linkplain #secured() secured}; then {@link
     *     SocketLanes#laneOpened(int, int, SecureStream)} is called
     */
    default void openLanes(int count, boolean secured) {
        if (secured) {
            throw new UnsupportedOperationException("these lanes are plain");
        }
        openLanes(count);
    }

    /**
     * Returns whether the control channel uses TLS.
     *
     * @return false if it is plain
     */
    default boolean secured() {
        return false;
    }

    /**
     * Sends a message to the peer's endpoint over the control channel: in order, and reliably while the connection
     * lasts. {@link TransportMessages#received} receives it. The endpoint is never closed inside this call.
     *
     * @param message at most 4 KiB
     */
    void send(byte[] message);

    /**
     * Reports that a notification of the peer has arrived, after all writes that it follows.
     *
     * @param payload its bytes
     * @throws ProtocolException if the peer had no credit for it, or it is too long
     */
    void notified(byte[] payload);

    /** Reports that the endpoint's {@link Notifications#notificationSender()} has room again. */
    void notificationsSendable();

    /** Reports that the peer may have changed words of attached regions by itself, which wakes their waiters. */
    void wordsChanged();

    /** Reports that work requests can be posted. To be called once. */
    void established();

    /**
     * Reports that a work request has ended. May be called inside {@link Endpoint#post} and {@link Endpoint#close}.
     *
     * @param request a request that was accepted
     * @param status how it ended
     */
    void completed(WorkRequest request, CompletionStatus status);

    /** Reports that the endpoint can accept requests again. */
    void postable();

    /**
     * Reports that the path to the peer is broken. The engine then calls {@link Endpoint#close()}. Must not be called
     * inside {@link Endpoint#post}. An {@link io.sluice.engine.TransportUnavailableException} before {@link
     * #established()} means that the two engines cannot use this transport with each other: the connecting side then
     * tries the next that both have.
     *
     * @param error the reason
     */
    void failed(SluiceException error);

    /**
     * Counts bytes that this side moved for the peer.
     *
     * @param operation the peer's operation
     * @param bytes the number of bytes
     */
    void served(WorkRequest.Opcode operation, long bytes);

    /** Counts a request of the peer that was refused. */
    void refused();

    /**
     * Counts events and bytes of the data path.
     *
     * @param counter the counter
     * @param delta the number to add
     */
    void count(WireCounter counter, long delta);
}
