package io.sluice.engine.transport;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.Integrity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/** The engine's services for an endpoint, and the endpoint's reports to the engine: on the event loop alone. */
public interface EndpointContext {
    /**
     * The event loop of the connection.
     *
     * @return the loop
     */
    EventLoop loop();

    /**
     * The engine's settings.
     *
     * @return the options
     */
    EngineOptions options();

    /**
     * The integrity checks that the two sides have agreed on.
     *
     * @return constant
     */
    Integrity integrity();

    /**
     * Whether this side made the connection.
     *
     * @return false if it accepted it
     */
    boolean initiator();

    /**
     * Finds what the peer has attached.
     *
     * @param handle as the peer presents it
     * @return the region, or {@code null} if there is none of that handle
     */
    @Nullable
    ExportedRegion exposed(long handle);

    /**
     * Opens sockets to the peer, each bound to this connection by a MAC; the initiator calls it in
     * {@link Endpoint#begin}. {@link SocketLanes#laneOpened} is called for each, on both sides.
     *
     * @param count how many
     */
    void openLanes(int count);

    /**
     * As {@link #openLanes(int)}, with TLS on the sockets if asked for.
     *
     * @param count how many
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
     * Whether the control channel is in TLS.
     *
     * @return false if it is plain
     */
    default boolean secured() {
        return false;
    }

    /**
     * Sends a message to the peer's endpoint over the control channel: in order, and reliably while the connection lives.
     * {@link TransportMessages#received} takes it. The endpoint is never closed inside this call.
     *
     * @param message at most 4 KiB
     */
    void send(byte[] message);

    /**
     * The peer's notification has arrived, after all writes that it follows.
     *
     * @param payload its bytes
     * @throws ProtocolException if the peer had no credit for it, or it is too long
     */
    void notified(byte[] payload);

    /** The endpoint's {@link Notifications#notificationSender()} has room again. */
    void notificationsSendable();

    /** The peer may have changed words of what it has attached by itself: who waits for one of them is woken. */
    void wordsChanged();

    /** The endpoint is ready to be posted to. Called once. */
    void established();

    /**
     * A work request has ended. May be called inside {@link Endpoint#post} and {@link Endpoint#close}.
     *
     * @param request accepted before
     * @param status how it ended
     */
    void completed(WorkRequest request, CompletionStatus status);

    /** The endpoint can accept again what it did not accept before. */
    void postable();

    /**
     * The path to the peer is broken. The engine answers with {@link Endpoint#close()}. Never called inside
     * {@link Endpoint#post}. An {@link io.sluice.engine.TransportUnavailableException} before {@link #established()} says that
     * the two engines cannot use this transport with each other: the connecting side then tries the next that both have.
     *
     * @param error why
     */
    void failed(SluiceException error);

    /**
     * Counts what this side did for the peer.
     *
     * @param operation the peer's operation
     * @param bytes how many bytes it moved
     */
    void served(WorkRequest.Opcode operation, long bytes);

    /** Counts a request of the peer that was refused. */
    void refused();

    /**
     * Counts what the data path does.
     *
     * @param counter which
     * @param delta how much
     */
    void count(WireCounter counter, long delta);
}
