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
 * Owns the pollers, regions and connections of a process. One engine is enough for a process; several are independent
 * of each other. All methods may be called from any thread.
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
     * Returns the status of every transport on the class path, without opening an engine.
     *
     * @return one entry for each transport, sorted by name
     */
    static List<TransportStatus> transports() {
        return TransportProviders.status();
    }

    /**
     * Returns whether a thread is a poller of an engine, which serves many connections and must never block.
     *
     * @param thread any thread
     * @return true for pollers
     */
    static boolean isPollerThread(Thread thread) {
        return thread instanceof PollerThread;
    }

    /**
     * Runs a task at the end of the calling poller's current duty cycle, after the callbacks of all other completions
     * of the cycle. On any other thread the task runs immediately. Code that hands completions over to another thread
     * can use this to wake that thread once for many completions instead of for the first, which could take the
     * poller's processor away. A poller on the process's only processor then yields to other threads as soon as it has
     * no more work.
     *
     * @param task the task; like a callback it must not block
     */
    static void atEndOfCycle(Runnable task) {
        if (Thread.currentThread() instanceof PollerThread poller) {
            poller.atEndOfCycle(task);
        } else {
            task.run();
        }
    }

    /**
     * Returns this engine's identity.
     *
     * @return drawn at {@link #open()}
     */
    EngineId id();

    /**
     * Returns the epoch, which identifies this run of the engine. Descriptors carry it, so that those of an earlier run
     * are refused.
     *
     * @return a random number
     */
    long epoch();

    /**
     * Returns the engine's options.
     *
     * @return as given to {@link #open(EngineOptions)}
     */
    EngineOptions options();

    /**
     * Returns the address at which peers connect to this engine.
     *
     * @return the advertised host and the bound port, with the engine's identity
     * @throws IllegalStateException if the engine does not listen
     */
    EngineAddress address();

    /**
     * Allocates zeroed, page-aligned memory and registers it. This is the safe way: the engine owns the memory and
     * releases it only when nothing can touch it any more.
     *
     * @param bytes at least 1
     * @param options access, name, and the kind and device of the memory
     * @return the region
     * @throws RegistrationException if the memory is not available, no transport allocates memory of that kind, or the
     *     name is taken
     * @throws ConnectionClosedException if the engine is closed
     */
    MemoryRegion allocate(long bytes, RegionOptions options);

    /**
     * Registers memory of the caller.
     *
     * <p><strong>The segment must outlive the region: do not close its arena before {@link MemoryRegion#close()} has
     * completed.</strong> No Java call can enforce this for a foreign arena. If the arena is closed too early, the
     * engine refuses new transfers as soon as it notices, but a transfer in flight may touch memory that has been
     * reused for something else.
     *
     * @param segment native memory that every thread may access: of a shared, automatic or global arena, or a mapped
     *     file. Heap and confined segments are refused
     * @param options access and name; a read-only segment can neither have {@link Access#REMOTE_WRITE} nor be the
     *     target of a read
     * @return the region
     * @throws RegistrationException if the segment cannot be registered, or the name is taken
     * @throws ConnectionClosedException if the engine is closed
     */
    default MemoryRegion register(MemorySegment segment, RegionOptions options) {
        return register(RegionMemory.host(segment), options);
    }

    /**
     * Registers memory of the caller, of any kind that one of the engine's transports registers. As with a segment, it
     * must outlive the region.
     *
     * @param memory host memory with a segment as above, or device memory
     * @param options access and name
     * @return the region
     * @throws RegistrationException if the memory cannot be registered, or the name is taken
     * @throws ConnectionClosedException if the engine is closed
     */
    MemoryRegion register(RegionMemory memory, RegionOptions options);

    /**
     * Returns the open regions.
     *
     * @return a snapshot
     */
    Collection<MemoryRegion> regions();

    /**
     * Opens a new connection. Cancelling the future, or completing it by a time-out, does not end the attempt, but
     * closes the connection if the attempt succeeds.
     *
     * @param address the peer's address
     * @return the connection; or {@link ConnectFailedException}, {@link LimitExceededException}, {@link
     *     AuthenticationException}, {@link TransportUnavailableException} within the connect time-out
     */
    default CompletableFuture<Connection> connect(EngineAddress address) {
        return connect(address, ConnectOptions.defaults());
    }

    /**
     * Opens a new connection with options, such as a group whose loop it shares.
     *
     * @param address the peer's address
     * @param options the options
     * @return as {@link #connect(EngineAddress)}
     */
    CompletableFuture<Connection> connect(EngineAddress address, ConnectOptions options);

    /**
     * Returns the cached connection to an address. The first call connects, without a group, and later calls share the
     * result. When that connection has ended, the next call opens another. Connections opened by {@code connect} are
     * not cached.
     *
     * @param address the peer's address
     * @return as {@link #connect}
     */
    CompletableFuture<Connection> connection(EngineAddress address);

    /**
     * Writes many elements as one transfer, each on the connection on which its remote region was attached: one batch
     * to many peers.
     *
     * @param elements copied; not empty
     * @param options for the transfer as a whole
     * @param callback receives each element's result and then the terminal signal, one call at a time even if several
     *     pollers complete elements. A connection that has ended, ends, or has too many pending transfers fails only
     *     its own elements
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be written
     * @throws IllegalArgumentException if there is no element, or one belongs to another engine
     * @throws ConnectionClosedException if the engine is closed
     */
    Transfer writeVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback);

    /**
     * Reads many elements as one transfer, as {@link #writeVectored} writes them.
     *
     * @param elements copied; not empty
     * @param options for the transfer as a whole
     * @param callback receives each element's result and then the terminal signal
     * @return the transfer
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws RemoteAccessException if a remote region may not be read
     * @throws IllegalArgumentException if there is no element, or one belongs to another engine
     * @throws ConnectionClosedException if the engine is closed
     */
    Transfer readVectored(List<TransferElement> elements, TransferOptions options, VectoredTransferCallback callback);

    /**
     * Returns the open connections, opened by either side.
     *
     * @return a snapshot
     */
    Collection<Connection> connections();

    /**
     * Adds a listener for connections that peers open. It is first called for those already open. Peers can connect
     * even if there is no listener.
     *
     * @param listener called on a poller's thread
     * @return a handle that removes the listener when closed
     */
    ListenerHandle onConnection(ConnectionListener listener);

    /**
     * Returns the engine's metrics.
     *
     * @return live figures
     */
    EngineMetrics metrics();

    /**
     * Checks that every poller makes progress.
     *
     * @return completes when each poller has begun a duty cycle after this call, which takes microseconds unless a
     *     callback holds one up; {@link ConnectionClosedException} if the engine is closed, {@link SluiceException} if
     *     a poller has failed
     */
    CompletableFuture<Void> pingPollers();

    /**
     * Closes the engine gracefully: refuses new connections, {@linkplain Connection#shutdown shuts down} all open ones
     * at once, and then closes as by {@link #closeAsync()}.
     *
     * @param patience the longest time to wait for transfers in flight, 0 or more
     * @return completes when nothing of the engine touches memory any more, at most a little longer than the given time
     *     plus the liveness time-out
     * @throws IllegalArgumentException if the time is negative
     */
    CompletableFuture<Void> shutdown(Duration patience);

    /**
     * Closes all connections, then the regions, then the pollers.
     *
     * @return completes when nothing of the engine touches memory any more; a second call has the same result
     */
    CompletableFuture<Void> closeAsync();

    /**
     * Closes as {@link #closeAsync()} does and waits for it, at most a little longer than the liveness time-out. Must
     * not be called on a poller.
     */
    @Override
    void close();

    /** A handle that removes a listener when closed. */
    @FunctionalInterface
    interface ListenerHandle extends AutoCloseable {
        /** Removes the listener. */
        @Override
        void close();
    }
}
