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
 * A transfer engine for Vert.x: regions of memory, connections to peers, and what peers do here.
 *
 * <p><strong>Contexts.</strong> All methods may be called from any thread. Futures complete, and handlers are called, on the context of
 * the caller: an event loop, a worker or a virtual thread; see {@link TransferConnection}.
 *
 * <p><strong>Lifetime.</strong> A client that is made in a verticle is closed when that verticle is undeployed, and the undeployment waits
 * for it; any other one is closed with its Vert.x. For that it deploys something of its own, a child of the verticle, which shows in
 * {@link Vertx#deploymentIDs()}. As children go first, the client is closed before the verticle's own {@code stop} is called: for work
 * at the end close it by hand, before the undeployment.
 *
 * <p><strong>Sharing.</strong> With {@link TransferClientOptions#setShared} all clients of one Vert.x and one name share one engine, opened
 * by the first with its options, and closed with the last. Each has a life of its own: closing one cancels its transfers, closes the
 * regions and the connections that it made, and leaves alone the connections that are {@linkplain #connection cached} or accepted, as
 * others use them, too.
 */
public interface TransferClient {
    /**
     * {@return a client with the defaults and the environment's settings, listening on a free loopback port}
     *
     * @param vertx whose contexts it serves
     * @throws io.sluice.engine.SluiceException if it cannot listen or no transport is available
     */
    static TransferClient create(Vertx vertx) {
        return create(vertx, new TransferClientOptions());
    }

    /**
     * Makes a client. It opens the engine on the calling thread, unless there is one to share; that takes some milliseconds, and with
     * RDMA devices longer.
     *
     * @param vertx whose contexts it serves
     * @param options copied
     * @return the client
     * @throws io.sluice.engine.SluiceException if it cannot listen or a transport that the options name is not available
     */
    static TransferClient create(Vertx vertx, TransferClientOptions options) {
        return DefaultTransferClient.create(vertx, options);
    }

    /** {@return the engine itself; its callbacks come on pollers, and what it starts does not end with this client} */
    TransferEngine engine();

    /**
     * {@return what a peer needs to connect: the advertised host and the bound port, with the identity}
     * @throws IllegalStateException if the engine does not listen
     */
    default EngineAddress address() {
        return engine().address();
    }

    /**
     * Allocates zeroed memory and registers it, on a worker thread; see {@link TransferEngine#allocate}. The region is closed with this
     * client, if not before.
     *
     * @param bytes at least 1
     * @param options access and name
     * @return the region; or {@link io.sluice.engine.RegistrationException} if the memory is not to be had, or the name is taken
     */
    Future<MemoryRegion> allocate(long bytes, RegionOptions options);

    /**
     * Registers memory of the caller, <strong>which must outlive the region</strong>, on a worker thread; see
     * {@link TransferEngine#register}. The region is closed with this client, if not before.
     *
     * @param segment native memory that every thread may use
     * @param options access and name
     * @return the region; or {@link io.sluice.engine.RegistrationException} if the segment cannot be registered, or the name is taken
     */
    Future<MemoryRegion> register(MemorySegment segment, RegionOptions options);

    /**
     * {@return as {@link #register(MemorySegment, RegionOptions)}, for memory of any kind that a transport registers}
     *
     * @param memory of the host or of a device; must outlive the region
     * @param options access and name
     */
    Future<MemoryRegion> register(RegionMemory memory, RegionOptions options);

    /**
     * {@return completes when a region is closed and nothing can touch its bytes any more; see {@link MemoryRegion#close()}}
     *
     * @param region of this engine, not a slice
     */
    Future<Void> close(MemoryRegion region);

    /**
     * Makes a new connection, which is closed with this client, if not before. {@link Future#timeout} only gives up waiting: a
     * connection that comes later stays open until then. {@link io.sluice.engine.EngineOptions.Builder#connectTimeout} bounds the connect
     * itself.
     *
     * @param address of the peer
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
     * @param address of the peer
     * @param options how
     */
    Future<TransferConnection> connect(EngineAddress address, ConnectOptions options);

    /**
     * The engine's cached connection to an address, which all clients of a shared engine have in common. The first call connects; when
     * the connection has ended, the next call makes another.
     *
     * @param address of the peer
     * @return as {@link #connect(EngineAddress)}
     */
    Future<TransferConnection> connection(EngineAddress address);

    /**
     * The connections that peers make, first those that are open already. Peers may connect before there is a handler: those that
     * are not fetched wait, at most as many as may be open at once ({@link io.sluice.engine.EngineOptions.Builder#maxConnections}); if more come,
     * the stream fails.
     *
     * @return begins with its handler, and ends with this client
     */
    ReadStream<TransferConnection> accepted();

    /**
     * Writes many elements, each over the connection that its remote region was attached on: one batch to many peers. Each is a transfer
     * with a result of its own; a connection that ends fails its own elements alone.
     *
     * @param elements copied
     * @param options of each element
     * @return the results; nothing is written before it has a handler
     */
    TransferResultStream writeVectored(List<TransferElement> elements, TransferOptions options);

    /**
     * {@return the results of reading many elements, as {@link #writeVectored} writes them}
     *
     * @param elements copied
     * @param options of each element
     */
    TransferResultStream readVectored(List<TransferElement> elements, TransferOptions options);

    /**
     * Waits, without a thread, until a counter in one of this process's regions is at least a value.
     *
     * @param signal the counter; see {@link MemoryRegion#signal(long)}
     * @param value the least
     * @param atMost how long to wait, to the millisecond; more than zero
     * @return the value that was seen; {@link io.sluice.engine.TransferTimeoutException} if it does not come in time,
     *     {@link io.sluice.engine.RegionClosedException} if the region closes first
     */
    Future<Long> awaitAtLeast(Signal signal, long value, Duration atMost);

    /**
     * Whether the engine lives: every poller begins a duty cycle within ten stall thresholds, at least a second, and an engine that is to
     * listen listens. For the health checks of a service.
     *
     * @return never a failure: {@code status} is {@code UP} or {@code DOWN}, {@code engine} the engine's name in its figures, and, as far
     *     as they apply, {@code detail} says what is wrong, {@code address} where it listens, {@code connections} how many are open
     */
    Future<JsonObject> health();

    /**
     * Closes the client, and with the last of those that share it the engine: transfers end with
     * {@link io.sluice.engine.ConnectionClosedException} or, on a shared engine, {@link io.sluice.engine.TransferCancelledException};
     * streams end.
     *
     * @return completes when nothing that this client started touches memory any more; a second call gives the same outcome
     */
    Future<Void> close();
}
