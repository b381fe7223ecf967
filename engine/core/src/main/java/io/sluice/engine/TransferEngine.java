package io.sluice.engine;

import io.sluice.engine.progress.PollerThread;
import io.sluice.engine.providers.TransportProviders;
import io.sluice.engine.session.DefaultTransferEngine;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Owns the pollers, the regions and the connections of a process. One is enough for a process; each is independent of the
 * others. All methods may be called from any thread.
 */
public interface TransferEngine extends AutoCloseable {
    /**
     * Opens an engine with {@link EngineOptions#fromEnvironment() the defaults and the environment}.
     *
     * @return the engine, listening on a free loopback port
     * @throws SluiceException if it cannot listen or no transport is available
     */
    static TransferEngine open() {
        return open(EngineOptions.fromEnvironment());
    }

    /**
     * Opens an engine: starts its pollers and listens if the options say so.
     *
     * @param options all settings
     * @return the engine
     * @throws SluiceException if it cannot listen or a transport that the options name is not available
     */
    static TransferEngine open(EngineOptions options) {
        return DefaultTransferEngine.open(options);
    }

    /**
     * The status of every transport on the class path, without opening an engine.
     *
     * @return one entry a transport, sorted by name
     */
    static List<TransportStatus> transports() {
        return TransportProviders.status();
    }

    /**
     * Whether a thread is a poller of some engine: it serves many connections and must never block.
     *
     * @param thread any thread
     * @return true for pollers
     */
    static boolean isPollerThread(Thread thread) {
        return thread instanceof PollerThread;
    }

    /**
     * Runs a task at the end of the calling poller's present duty cycle, after the callbacks of all other completions
     * of the cycle; on any other thread at once. Code that hands completions over to another thread can so wake it once
     * for many of them, and not for the first, to which the poller might lose its processor. A poller on the process'
     * only processor yields to other threads then, as soon as it has no more work itself.
     *
     * @param task must not block, as callbacks must not
     */
    static void atEndOfCycle(Runnable task) {
        if (Thread.currentThread() instanceof PollerThread poller) {
            poller.atEndOfCycle(task);
        } else {
            task.run();
        }
    }

    /**
     * This engine's identity.
     *
     * @return drawn at {@link #open()}
     */
    EngineId id();

    /**
     * This run of the engine. Descriptors carry it, so that those of an earlier run are refused.
     *
     * @return a random number
     */
    long epoch();

    /**
     * The settings.
     *
     * @return as given to {@link #open(EngineOptions)}
     */
    EngineOptions options();

    /**
     * The address with which peers connect to this engine.
     *
     * @return the advertised host and the bound port, with the identity
     * @throws IllegalStateException if the engine does not listen
     */
    EngineAddress address();

    /**
     * Allocates zeroed, page-aligned memory and registers it. The safe path: the engine owns the memory, and gives it back
     * only when nothing can touch it any more.
     *
     * @param bytes at least 1
     * @param options access, name, and the kind and device of the memory
     * @return the region
     * @throws RegistrationException if the memory is not to be had, no transport makes memory of that kind, or the name is taken
     * @throws ConnectionClosedException if the engine is closed
     */
    MemoryRegion allocate(long bytes, RegionOptions options);

    /**
     * Registers memory of the caller.
     *
     * <p><strong>The segment must outlive the region: do not close its arena before {@link MemoryRegion#close()} has
     * completed.</strong> No Java call can enforce this for a foreign arena. If it is broken, the engine refuses new
     * transfers as soon as it sees the arena closed, but one under way may touch memory that by then belongs to something
     * else.
     *
     * @param segment native memory that every thread may use: of a shared, automatic or global arena, or a mapped file.
     *     Heap and confined segments are refused
     * @param options access and name; a read-only segment can neither be given {@link Access#REMOTE_WRITE} nor be the
     *     target of a read
     * @return the region
     * @throws RegistrationException if the segment cannot be registered, or the name is taken
     * @throws ConnectionClosedException if the engine is closed
     */
    default MemoryRegion register(MemorySegment segment, RegionOptions options) {
        return register(RegionMemory.host(segment), options);
    }

    /**
     * Registers memory of the caller, of any kind that one of the engine's transports registers. As with a segment, it must
     * outlive the region.
     *
     * @param memory of the host, with a segment as above, or of a device
     * @param options access and name
     * @return the region
     * @throws RegistrationException if the memory cannot be registered, or the name is taken
     * @throws ConnectionClosedException if the engine is closed
     */
    MemoryRegion register(RegionMemory memory, RegionOptions options);

    /**
     * The regions that are open.
     *
     * @return a snapshot
     */
    Collection<MemoryRegion> regions();

    /**
     * Makes a new connection. A future that the caller cancels, or completes by a time-out of its own, ends no attempt that is
     * under way, but the connection that comes of it is closed.
     *
     * @param address of the peer
     * @return the connection; or {@link ConnectFailedException}, {@link LimitExceededException},
     *     {@link AuthenticationException}, {@link TransportUnavailableException} within the connect time-out
     */
    default CompletableFuture<Connection> connect(EngineAddress address) {
        return connect(address, ConnectOptions.defaults());
    }

    /**
     * Makes a new connection in a way of the caller's, such as one that shares the loop of others.
     *
     * @param address of the peer
     * @param options how
     * @return as {@link #connect(EngineAddress)}
     */
    CompletableFuture<Connection> connect(EngineAddress address, ConnectOptions options);

    /**
     * The cached connection to an address. The first call connects, without a group, later ones share the result; when that
     * connection has ended, the next call makes another. Connections that {@code connect} has made are not among the cached.
     *
     * @param address of the peer
     * @return as {@link #connect}
     */
    CompletableFuture<Connection> connection(EngineAddress address);

    /**
     * Writes many elements as one transfer, each to the connection that its remote region was attached on: one batch to
     * many peers.
     *
     * @param elements copied; not empty
     * @param options for the transfer as a whole
     * @param callback each element's result, one call at a time though several pollers complete them, then the terminal
     *     signal. A connection that has ended, ends, or has too many transfers waiting fails its own elements alone
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be written
     * @throws IllegalArgumentException if there is no element, or one is of another engine
     * @throws ConnectionClosedException if the engine is closed
     */
    Transfer writeVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback);

    /**
     * Reads many elements as one transfer, as {@link #writeVectored} writes them.
     *
     * @param elements copied; not empty
     * @param options for the transfer as a whole
     * @param callback each element's result, then the terminal signal
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be read
     * @throws IllegalArgumentException if there is no element, or one is of another engine
     * @throws ConnectionClosedException if the engine is closed
     */
    Transfer readVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback);

    /**
     * The connections that are open, made by either side.
     *
     * @return a snapshot
     */
    Collection<Connection> connections();

    /**
     * Adds a listener for connections that peers open; it is first called for those already open. Peers can connect
     * without any listener.
     *
     * @param listener called on a poller's thread
     * @return closing it ends the calls
     */
    ListenerHandle onConnection(ConnectionListener listener);

    /**
     * The figures.
     *
     * @return live counters
     */
    EngineMetrics metrics();

    /**
     * Asks every poller for a sign of life.
     *
     * @return completes when each has begun a duty cycle after this call, which takes microseconds unless a callback holds one up;
     *     {@link ConnectionClosedException} if the engine is closed, {@link SluiceException} if a poller has failed
     */
    CompletableFuture<Void> pingPollers();

    /**
     * Closes the engine in order: takes no new connections, {@linkplain Connection#shutdown shuts down} those that are open, all at
     * a time, and then closes as by {@link #closeAsync()}.
     *
     * @param patience the most time for what is under way, 0 or more
     * @return completes when nothing of the engine touches memory any more: after the given time, and a little more than the
     *     liveness time-out, at the latest
     * @throws IllegalArgumentException if the time is negative
     */
    CompletableFuture<Void> shutdown(Duration patience);

    /**
     * Ends all connections, then the regions, then the pollers.
     *
     * @return completes when nothing of the engine touches memory any more; a second call gives the same outcome
     */
    CompletableFuture<Void> closeAsync();

    /**
     * Closes as {@link #closeAsync()} and waits, at most a little longer than the liveness time-out. Not on pollers.
     */
    @Override
    void close();

    /** Removes a listener when closed. */
    @FunctionalInterface
    interface ListenerHandle extends AutoCloseable {
        /** Removes the listener. */
        @Override
        void close();
    }
}
