package io.sluice.engine.transport;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.DeviceMetrics;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.PortMetrics;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A transport opened for one engine. Methods are called from any thread unless they say otherwise. */
public interface Transport extends AutoCloseable {
    /**
     * Returns the transport's capabilities.
     *
     * @return constant
     */
    Capabilities capabilities();

    /**
     * Returns the transport's support for memory, by kind.
     *
     * @return constant; host memory by default
     */
    default MemorySupport memory() {
        return MemorySupport.HOST;
    }

    /**
     * Returns the kinds of memory of which this transport reaches only some regions: it may refuse others in {@link
     * #register}. A connection over it has a second path, over a transport that reaches the rest.
     *
     * @return constant; none by default
     */
    default Set<MemoryKind> partial() {
        return Set.of();
    }

    /**
     * Returns the transport that reaches the regions of {@link #partial()} kinds that this one does not. It is opened
     * with this one and adds a second path, even if the options name only this one.
     *
     * @return a provider's name; {@code null} if no region is left
     */
    default @Nullable String complement() {
        return null;
    }

    /**
     * Returns the kinds of memory whose registrations here are {@link StagedMemory}, so that transports that {@linkplain
     * #carriesStaged() carry that} reach memory of these kinds where no transport reaches it directly.
     *
     * @return constant; the preferred chunk in bytes for each kind; none by default
     */
    default Map<MemoryKind, Long> staged() {
        return Map.of();
    }

    /**
     * Returns whether this transport's endpoints carry memory of other transports' {@link #staged()} kinds through a
     * {@link StagingRing}, on both sides. Such a path is chosen only where there is no other.
     *
     * @return constant; false by default
     */
    default boolean carriesStaged() {
        return false;
    }

    /**
     * Returns from where peers reach this transport, as far as that is known before a connection is tried.
     *
     * @return at most 200 characters for the peer's {@link #whyOutOfReach}; empty for no limit
     */
    default String reach() {
        return "";
    }

    /**
     * Decides whether a peer may be within reach. It can still prove out of reach when the path is set up.
     *
     * @param peer the peer's {@link #reach()}
     * @return why not, or {@code null} if it may be
     */
    default @Nullable String whyOutOfReach(String peer) {
        return null;
    }

    /**
     * Allocates memory for a region with which this transport can do more than with other memory. May block. Called
     * only for kinds that {@link MemorySupport#allocate()} names.
     *
     * @param bytes the length, at least 1
     * @param options the kind and device of the memory, and the rights of peers
     * @return the memory, or {@code null} if any memory of the kind serves as well
     * @throws RegistrationException if there is not enough; the message says what to do
     */
    default @Nullable AllocatedMemory allocate(long bytes, RegionOptions options) {
        return null;
    }

    /**
     * Registers a region's memory with the adapters, for this transport's connections. May block; never called on an
     * event loop. Called only for kinds that {@link MemorySupport#register()} names.
     *
     * @param memory the region's memory
     * @param access the rights of peers
     * @param domain what executes the region's atomic operations
     * @return the registration, or {@code null} if the transport needs none
     * @throws RegistrationException if an adapter refuses the memory; the message says what to do
     */
    default @Nullable RegisteredMemory register(RegionMemory memory, Set<Access> access, AtomicDomain domain) {
        return null;
    }

    /**
     * Registers device memory that another transport has registered and exports. May block, as {@link #register}, which
     * the default calls.
     *
     * @param memory the region's memory
     * @param exported how adapters reach it; the other transport's registration ends after this one
     * @param access the rights of peers
     * @param domain what executes the region's atomic operations
     * @return the registration, or {@code null} if the transport needs none
     * @throws RegistrationException if the memory cannot be exported or an adapter refuses it; the message says why
     */
    default @Nullable RegisteredMemory registerExported(
            RegionMemory memory, DmaBufferMemory exported, Set<Access> access, AtomicDomain domain) {
        return register(memory, access, domain);
    }

    /**
     * Opens this transport's part on an event loop. Called on the loop's thread, once for each loop that gets a
     * connection of this transport.
     *
     * @param loop the loop of the connections
     * @return the part that creates their endpoints; closed on the loop's thread before this transport is closed
     */
    TransportLoop openLoop(EventLoop loop);

    /**
     * Returns the ports in use that keep counters.
     *
     * @return always the same; empty if no device is used
     */
    default List<PortMetrics> ports() {
        return List.of();
    }

    /**
     * Returns the devices that carry out transfers.
     *
     * @return always the same; empty by default
     */
    default List<DeviceMetrics> devices() {
        return List.of();
    }

    /** Closes the transport. All its loops are closed by then. */
    @Override
    default void close() {}
}
