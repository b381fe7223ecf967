package io.sluice.engine.transport;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.SluiceException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Implemented by an endpoint that takes part in attaching regions, for example with its own keys. Called on the
 * connection's event loop. The defaults suit an endpoint whose work requests need only handle, key and epoch.
 */
public interface RegionAttachments {
    /** The keys of a transport that needs none. */
    byte[] NO_KEYS = {};

    /**
     * Returns whether the peer can reach a region of this engine over this path. If not, it is offered the connection's
     * other paths.
     *
     * @param region the region that the peer attaches, of a kind that {@link MemorySupport#register()} names
     * @return true unless this transport reaches only a {@linkplain Transport#partial() part} of that kind
     */
    default boolean reaches(ExportedRegion region) {
        return true;
    }

    /**
     * Returns the data beyond handle, key and epoch with which the peer reaches a region that it attaches. The peer's
     * endpoint receives it in {@link #remoteKey}.
     *
     * @param handle this side's number for the attachment
     * @param region the region that the peer attaches
     * @return at most 1 KiB; null if the region is closing and could not be leased, which refuses the attachment
     */
    default byte @Nullable [] keysOf(long handle, ExportedRegion region) {
        return NO_KEYS;
    }

    /**
     * Returns what tells the peer why this transport has not registered a region that the peer attaches over another path.
     * The peer's {@link #remoteKey} throws it as a {@link io.sluice.engine.MemoryNotAccessibleException}.
     *
     * @param reason the reason, without addresses
     * @return at most 1 KiB; {@code null} by default, which offers nothing over this path
     */
    default byte @Nullable [] keysOfRefused(String reason) {
        return null;
    }

    /**
     * Creates the key of a peer's region.
     *
     * @param handle the peer's number for the attachment
     * @param descriptor the attached descriptor
     * @param keys the data that the peer's {@link #keysOf} returned
     * @return the key that work requests carry
     * @throws ProtocolException if the keys are damaged
     * @throws io.sluice.engine.MemoryNotAccessibleException if this side does not reach the region over this path after
     *     all. The message says why, the connection's other paths are tried, and nothing may be kept for the region
     */
    default RemoteKey remoteKey(long handle, RegionDescriptor descriptor, ByteBuffer keys) {
        return new RemoteKey(handle, descriptor.key(), descriptor.epoch());
    }

    /**
     * Prepares attached regions for use.
     *
     * @param keys keys made by {@link #remoteKey}
     * @param done must be run once on the loop's thread, possibly inside the call: with {@code null} when work requests
     *     may carry the keys, or with the reason why they never may; not at all if the endpoint is closed earlier
     */
    default void prepare(List<RemoteKey> keys, Consumer<@Nullable SluiceException> done) {
        done.accept(null);
    }

    /**
     * Called when a peer's region is no longer attached.
     *
     * @param key a key made by {@link #remoteKey}
     */
    default void detached(RemoteKey key) {}

    /**
     * Called when an attachment of the peer has ended: its region is closing, or the peer has detached it.
     *
     * @param handle this side's number for the attachment
     */
    default void exportEnded(long handle) {}
}
