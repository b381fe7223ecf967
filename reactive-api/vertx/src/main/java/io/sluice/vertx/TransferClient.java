package io.sluice.vertx;

import io.sluice.engine.ConnectOptions;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.Signal;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.core.streams.ReadStream;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

/**
 * A transfer engine for Vert.x: memory regions, connections to peers, and connections accepted from peers.
 *
 * <p><strong>Contexts.</strong> All methods may be called from any thread. Futures complete, and handlers are called,
 * on the caller's context: an event loop, a worker or a virtual thread; see {@link TransferConnection}.
 *
 * <p><strong>Lifetime.</strong> A client created in a verticle is closed when that verticle is undeployed, and the
 * undeployment waits for it; any other client is closed with its Vert.x. For that purpose it deploys a child of the
 * verticle, which appears in {@link Vertx#deploymentIDs()}. Children are undeployed first, so the client is closed
 * before the verticle's own {@code stop} is called: for a final transfer close the client explicitly, before the
 * undeployment.
 *
 * <p><strong>Sharing.</strong> With {@link TransferClientOptions#setShared} all clients of one Vert.x and one name
 * share an engine. The first client opens it with its options, and the last one closes it. Closing a client cancels its
 * transfers and closes the regions and connections that it created, but not the {@linkplain #connection cached} or
 * accepted connections, which others use, too.
 */
public interface TransferClient {
    /**
     * {@return a client with default settings overridden by the environment, listening on a free loopback port}
     *
     * @param vertx the Vert.x whose contexts it serves
     * @throws io.sluice.engine.SluiceException if it cannot listen or no transport is available
     */
    static TransferClient create(Vertx vertx) {
        return create(vertx, new TransferClientOptions());
    }

    /**
     * Creates a client. Opens the engine on the calling thread, unless a shared one is open; that takes some
     * milliseconds, and longer with RDMA devices.
     *
     * @param vertx the Vert.x whose contexts it serves
     * @param options copied
     * @return the client
     * @throws io.sluice.engine.SluiceException if it cannot listen, or a transport in the options is not available
     */
    static TransferClient create(Vertx vertx, TransferClientOptions options) {
        return DefaultTransferClient.create(vertx, options);
    }

    /** {@return the engine; its callbacks run on pollers, and what it starts does not end with this client} */
    TransferEngine engine();

    /**
     * {@return the address that peers connect to: the advertised host, the bound port and the engine's id}
     *
     * @throws IllegalStateException if the engine does not listen
     */
    default EngineAddress address() {
        return engine().address();
    }

    /**
     * Allocates and registers zeroed memory on a worker thread; see {@link TransferEngine#allocate}. The region is
     * closed with this client unless it is closed before.
     *
     * @param bytes at least 1
     * @param options access and name
     * @return the region; or {@link io.sluice.engine.RegistrationException} if there is not enough memory or the name
     *     is taken
     */
    Future<MemoryRegion> allocate(long bytes, RegionOptions options);

    /**
     * Registers memory of the caller, <strong>which must outlive the region</strong>, on a worker thread; see {@link
     * TransferEngine#register}. The region is closed with this client unless it is closed before.
     *
     * @param segment native memory that all threads may access
     * @param options access and name
     * @return the region; or {@link io.sluice.engine.RegistrationException} if the segment cannot be registered, or the name is taken
     */
    Future<MemoryRegion> register(MemorySegment segment, RegionOptions options);

    /**
     * {@return as {@link #register(MemorySegment, RegionOptions)}, for memory of any kind that a transport registers}
     *
     * @param memory host or device memory; must outlive the region
     * @param options access and name
     */
    Future<MemoryRegion> register(RegionMemory memory, RegionOptions options);

    /**
     * {@return completes when a region is closed and nothing can access its bytes any more; see {@link
     * MemoryRegion#close()}}
     *
     * @param region of this engine, not a slice
     */
    Future<Void> close(MemoryRegion region);

    /**
     * Opens a connection, which is closed with this client unless it is closed before. {@link Future#timeout} only
     * stops waiting: a connection that is established later stays open. {@link
     * io.sluice.engine.EngineOptions.Builder#connectTimeout} limits the connect itself.
     *
     * @param address the peer's address
     * @return the connection; or {@link io.sluice.engine.ConnectFailedException},
     *     {@link io.sluice.engine.AuthenticationException} or another {@link io.sluice.engine.SluiceException} within the connect
     *     time-out
     */
    default Future<TransferConnection> connect(EngineAddress address) {
        return connect(address, ConnectOptions.defaults());
    }

    /**
     * {@return as {@link #connect(EngineAddress)}, with options, such as to share the poller of other connections}
     *
     * @param address the peer's address
     * @param options the options
     */
    Future<TransferConnection> connect(EngineAddress address, ConnectOptions options);

    /**
     * Returns the engine's cached connection to an address, shared by all clients of a shared engine. The first call
     * connects; after the connection has ended, the next call connects again.
     *
     * @param address the peer's address
     * @return as {@link #connect(EngineAddress)}
     */
    Future<TransferConnection> connection(EngineAddress address);

    /**
     * Returns the connections made by peers, starting with those already open. Peers may connect before there is a
     * handler: unfetched connections wait, at most {@link io.sluice.engine.EngineOptions.Builder#maxConnections} of
     * them; if more arrive, the stream fails.
     *
     * @return starts with its handler, and ends with this client
     */
    ReadStream<TransferConnection> accepted();

    /**
     * Writes many elements, each on the connection where its remote region was attached: one batch to many peers. Each
     * is a transfer with its own result; a connection that ends fails only its own elements.
     *
     * @param elements copied
     * @param options the options of each element
     * @return the results; nothing is written before a handler is set
     */
    TransferResultStream writeVectored(List<TransferElement> elements, TransferOptions options);

    /**
     * {@return the results of reading many elements, as {@link #writeVectored} writes them}
     *
     * @param elements copied
     * @param options the options of each element
     */
    TransferResultStream readVectored(List<TransferElement> elements, TransferOptions options);

    /**
     * Waits, without a thread, until a counter in a region of this process reaches a value.
     *
     * @param signal the counter; see {@link MemoryRegion#signal(long)}
     * @param value the least value
     * @param atMost the time-out, to the millisecond; positive
     * @return the value seen; {@link io.sluice.engine.TransferTimeoutException} after the time-out, {@link
     *     io.sluice.engine.RegionClosedException} if the region closes first
     */
    Future<Long> awaitAtLeast(Signal signal, long value, Duration atMost);

    /**
     * Checks the engine for a service's health check: every poller begins a duty cycle within ten stall thresholds, at
     * least a second, and an engine configured to listen listens.
     *
     * @return never fails: {@code status} is {@code UP} or {@code DOWN}, {@code engine} the engine's name in its
     *     metrics, and, if applicable, {@code detail} describes the fault, {@code address} is where it listens, {@code
     *     connections} the number of open ones
     */
    Future<JsonObject> health();

    /**
     * Closes the client, and the engine unless other clients share it. Transfers end with {@link
     * io.sluice.engine.ConnectionClosedException} or, on a shared engine, {@link
     * io.sluice.engine.TransferCancelledException}; streams end.
     *
     * @return completes when nothing that this client started accesses memory any more; a second call returns the same
     *     outcome
     */
    Future<Void> close();
}
