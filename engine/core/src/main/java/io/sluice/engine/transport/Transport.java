package io.sluice.engine.transport;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.PortMetrics;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A transport opened for one engine. Called from any thread. */
public interface Transport extends AutoCloseable {
    /**
     * The transport's capabilities.
     *
     * @return constant
     */
    Capabilities capabilities();

    /**
     * The transport's support for memory, by kind.
     *
     * @return constant; memory of the host by default
     */
    default MemorySupport memory() {
        return MemorySupport.HOST;
    }

    /**
     * The kinds of memory of which it reaches some regions and not others. A connection over such a transport has a
     * second path, over the next transport that reaches them.
     *
     * @return constant; none by default
     */
    default Set<MemoryKind> partial() {
        return Set.of();
    }

    /**
     * The transport that reaches those regions of its {@link #partial()} kinds that this one does not. It is opened
     * with this one, and adds a second path, even if the options name this one alone.
     *
     * @return a provider's name; {@code null} if nothing is left
     */
    default @Nullable String complement() {
        return null;
    }

    /**
     * The places from which peers reach this transport, as far as they are known before a connection is tried.
     *
     * @return at most 200 characters for the peer's {@link #whyOutOfReach}; empty for no limit
     */
    default String reach() {
        return "";
    }

    /**
     * Whether a peer may be within reach. A peer that is within reach here can still prove out of reach when the path
     * is set up.
     *
     * @param peer its {@link #reach()}
     * @return why not, or {@code null} if it may be
     */
    default @Nullable String whyOutOfReach(String peer) {
        return null;
    }

    /**
     * Makes memory for a region in a way that lets the transport do more with it than with other memory. It may block. Asked
     * only for kinds that {@link MemorySupport#allocate()} names.
     *
     * @param bytes how many, at least 1
     * @param options the kind and device of the memory, and what peers may do
     * @return the memory, or {@code null} if any memory of the kind is as good
     * @throws RegistrationException if there is not enough; the message says what to do
     */
    default @Nullable AllocatedMemory allocate(long bytes, RegionOptions options) {
        return null;
    }

    /**
     * Makes a region's memory known to the adapters, for use on this transport's connections. It may block, and never runs on
     * an event loop. Asked only for kinds that {@link MemorySupport#register()} names.
     *
     * @param memory the region's
     * @param access what peers may do
     * @param domain who carries out the atomic operations on it
     * @return the registration, or {@code null} if the transport needs none
     * @throws RegistrationException if an adapter does not take it; the message says what to do
     */
    default @Nullable RegisteredMemory register(RegionMemory memory, Set<Access> access, AtomicDomain domain) {
        return null;
    }

    /**
     * Makes what this transport has on an event loop. Called on the loop's thread, once for each loop that gets a connection
     * of this transport.
     *
     * @param loop serves the connections
     * @return makes their endpoints; closed on the loop's thread before this transport is
     */
    TransportLoop openLoop(EventLoop loop);

    /**
     * The ports in use that keep counters.
     *
     * @return always the same; empty where no device is used
     */
    default List<PortMetrics> ports() {
        return List.of();
    }

    /** Gives everything back. All loops are closed. */
    @Override
    default void close() {}
}
