package io.sluice.engine;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A peer's region, attached on one connection. It is valid until the connection ends or the peer closes the region;
 * then transfers fail with a typed error.
 */
public interface RemoteRegion {
    /**
     * Returns the connection on which the region was attached, the only one that can use it.
     *
     * @return the connection
     */
    Connection connection();

    /**
     * Returns the descriptor of the attached region.
     *
     * @return the descriptor
     */
    RegionDescriptor descriptor();

    /**
     * Returns the number of bytes that can be reached; offsets of transfers range from 0 to this length.
     *
     * @return bytes
     */
    default long length() {
        return descriptor().length();
    }

    /**
     * Returns the rights on the region.
     *
     * @return an unmodifiable set
     */
    default Set<Access> access() {
        return descriptor().access();
    }

    /**
     * Returns the path that carries reads and writes of this region, preferably that for local host memory.
     *
     * @return one of {@link Connection#paths()}, with the reason why it was chosen for this region
     */
    ConnectionPath path();

    /**
     * Returns the path that carries reads and writes between this region and a kind of local memory.
     *
     * @param local the kind of the local region
     * @return the path
     * @throws MemoryNotAccessibleException if there is no such path
     */
    ConnectionPath path(MemoryKind local);

    /**
     * Returns the path that carries puts, signals and atomic operations.
     *
     * @return the path
     * @throws MemoryNotAccessibleException if there is no such path
     */
    ConnectionPath wordPath();

    /**
     * Returns the peer's bytes themselves where this process has mapped them: over shm, for a region that the peer's
     * engine allocated. Loads and stores there need no transfer, take no window and are counted nowhere; the peer sees
     * them as another thread of its process would, and no {@link SignalWait} is woken by them. Neither side is protected
     * from the other's stores.
     *
     * <p>The segment may be used by any thread, as long as the attachment lasts: after its {@linkplain Connection#detach
     * detach}, the close of the peer's region or the end of the connection, each access throws {@link
     * IllegalStateException}. Native code that gets only the address is not protected from that end, unless it runs on
     * the {@linkplain Connection#loop() connection's loop}, where attachments end. A thread in the middle of an access
     * delays the close of the peer's region.
     *
     * @return {@link #length()} bytes, read-only without the right to write; {@code null} if the region is reached
     *     another way, or its attachment has ended
     */
    default @Nullable MemorySegment mapped() {
        return null;
    }
}
