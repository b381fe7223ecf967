package io.sluice.engine.transport;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.SluiceException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Implemented by an endpoint that takes part in attaching regions, for example with keys of its own. On the
 * connection's event loop. The defaults suit an endpoint whose work requests need handle, key and epoch alone.
 */
public interface RegionAttachments {
    /** The keys of a transport that needs none. */
    byte[] NO_KEYS = {};

    /**
     * Whether the peer can reach a region of this engine over this path. If not, it is offered the connection's other paths.
     *
     * @param region what the peer attaches, of a kind that {@link MemorySupport#register()} names
     * @return true unless this transport reaches only a {@linkplain Transport#partial() part} of that kind
     */
    default boolean reaches(ExportedRegion region) {
        return true;
    }

    /**
     * The data beyond handle, key and epoch with which the peer reaches a region that it attaches: its endpoint gets
     * this in {@link #remoteKey}.
     *
     * @param handle this side's number for the attachment
     * @param region the region that it attaches
     * @return at most 1 KiB; null if the region is closing and could not be leased, which refuses the attachment
     */
    default byte @Nullable [] keysOf(long handle, ExportedRegion region) {
        return NO_KEYS;
    }

    /**
     * Makes the key of a region of the peer's.
     *
     * @param handle the peer's number for the attachment
     * @param descriptor what was attached
     * @param keys what the peer's {@link #keysOf} gave
     * @return the key that work requests carry
     * @throws ProtocolException if the keys are damaged
     * @throws io.sluice.engine.MemoryNotAccessibleException if this side does not reach the region over this path after all;
     *     the message says why, and the connection's other paths are tried. Nothing is kept for it then
     */
    default RemoteKey remoteKey(long handle, RegionDescriptor descriptor, ByteBuffer keys) {
        return new RemoteKey(handle, descriptor.key(), descriptor.epoch());
    }

    /**
     * Makes attached regions ready for use.
     *
     * @param keys made by {@link #remoteKey}
     * @param done to be run once on the loop's thread, perhaps inside the call: with {@code null} when work requests may carry
     *     the keys, or with the reason why they never may; not at all if the endpoint is closed before
     */
    default void prepare(List<RemoteKey> keys, Consumer<@Nullable SluiceException> done) {
        done.accept(null);
    }

    /**
     * A region of the peer's is not attached any more.
     *
     * @param key made by {@link #remoteKey}
     */
    default void detached(RemoteKey key) {}

    /**
     * An attachment of the peer's has ended: its region is closing, or the peer has detached it.
     *
     * @param handle its number
     */
    default void exposureEnded(long handle) {}
}
