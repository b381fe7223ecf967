package io.sluice.engine;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this process that is registered for transfers. All methods may be called from any thread.
 *
 * <p>Reading or writing {@link #segment()} while a transfer uses the same bytes is a data race, as with any memory; wait
 * for the transfer's terminal signal, and after a cancel, time-out or error for {@link Transfer#quiesced()}.
 */
public interface MemoryRegion {
    /**
     * The region's length.
     *
     * @return bytes
     */
    long length();

    /**
     * Where this slice begins in its region.
     *
     * @return bytes; 0 for a whole region
     */
    long offset();

    /**
     * Where the bytes lie.
     *
     * @return the kind
     */
    MemoryKind kind();

    /**
     * The rights of peers.
     *
     * @return an unmodifiable set, empty for a local region
     */
    Set<Access> access();

    /**
     * The name under which peers can look the region up.
     *
     * @return the name, or {@code null}; slices have none
     */
    @Nullable
    String name();

    /**
     * Where the bytes lie: the kind, the device, and the address for programs of the device.
     *
     * @return of exactly {@link #length()} bytes
     */
    RegionMemory memory();

    /**
     * The bytes, for code of this process. For an allocated region the segment dies with {@link #close()}, and touching
     * it then throws {@link IllegalStateException}.
     *
     * @return a view of exactly {@link #length()} bytes, usable from any thread
     * @throws MemoryNotAccessibleException if the processor cannot touch memory of this {@linkplain #kind() kind}: use
     *     {@link #memory()}, or transfer the bytes to a region of host memory
     */
    MemorySegment segment();

    /**
     * The domain that executes atomic operations and signals on this region.
     *
     * @return the domain, as registered
     */
    AtomicDomain atomicDomain();

    /**
     * A counter in this region or slice that peers can add to.
     *
     * @param offset bytes from the start of this region or slice; a multiple of 8, and so must be the slice's own offset
     * @return a view of the counter, which keeps its present value; costs nothing at the region
     * @throws IndexOutOfBoundsException if its 8 bytes leave this region or slice
     * @throws IllegalArgumentException if it does not lie at a multiple of 8, of the address included
     * @throws MemoryNotAccessibleException if neither the processor nor a transport reaches words of the memory
     */
    Signal signal(long offset);

    /**
     * A view of a part. It has no lifetime of its own: it lives as long as the region.
     *
     * @param offset bytes from the start of this region or slice
     * @param length bytes
     * @return the slice; its descriptor lets a peer reach these bytes alone
     * @throws IndexOutOfBoundsException if the range leaves this region or slice
     */
    MemoryRegion slice(long offset, long length);

    /**
     * The descriptor with which a peer reaches this region or slice, with all of {@link #access()}.
     *
     * @return the descriptor
     * @throws IllegalStateException if no right is given to peers
     */
    RegionDescriptor descriptor();

    /**
     * The same with fewer rights.
     *
     * @param rights a subset of {@link #access()}, not empty
     * @return the descriptor
     * @throws IllegalArgumentException if the region does not have one of the rights, or none is named
     */
    RegionDescriptor descriptor(Set<Access> rights);

    /**
     * The CRC-32C (Castagnoli) of what a range holds now, made by the calling thread: a pass over the bytes, which are not to be
     * changed meanwhile. A peer gets the same number by {@link Connection#checksum}.
     *
     * @param offset bytes from the start of this region or slice
     * @param length bytes
     * @return 0 to 0xFFFFFFFF; 0 for no bytes
     * @throws IndexOutOfBoundsException if the range leaves this region or slice
     * @throws RegionClosedException if the region is closed
     * @throws MemoryNotAccessibleException if neither the processor nor a transport reads the memory
     */
    long checksum(long offset, long length);

    /**
     * Whether the region can still be used.
     *
     * @return false from the first call of {@link #close()} on
     */
    boolean isOpen();

    /**
     * Ends the region. From now on peers are refused and transfers that have not been posted fail with
     * {@link RegionClosedException}; what is posted already is waited for, at most for the liveness time-out.
     *
     * @return completes once nothing can touch the bytes any more and, for an allocated region, the memory is given back;
     *     a second call gives the same outcome. A slice cannot be closed: it answers with {@link IllegalStateException}
     */
    CompletableFuture<Void> close();
}
