package io.sluice.engine;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this process that is registered for transfers. All methods may be called from any thread.
 *
 * <p>Accessing {@link #segment()} while a transfer uses the same bytes is a data race. Wait for the transfer's terminal
 * signal and, after a cancel, time-out or error, for {@link Transfer#quiesced()}.
 */
public interface MemoryRegion {
    /**
     * Returns the length of this region or slice.
     *
     * @return bytes
     */
    long length();

    /**
     * Returns the offset of this slice in its region.
     *
     * @return bytes; 0 for a whole region
     */
    long offset();

    /**
     * Returns the kind of the memory.
     *
     * @return the kind
     */
    MemoryKind kind();

    /**
     * Returns the rights of peers.
     *
     * @return an unmodifiable set, empty for a local region
     */
    Set<Access> access();

    /**
     * Returns the name under which peers can look up the region.
     *
     * @return the name, or {@code null}; slices have none
     */
    @Nullable
    String name();

    /**
     * Returns the location of the bytes: the memory's kind, device, and address for programs of the device.
     *
     * @return memory of exactly {@link #length()} bytes
     */
    RegionMemory memory();

    /**
     * Returns the bytes as a segment. {@link #close()} ends the segment of an allocated region; accessing it afterwards
     * throws {@link IllegalStateException}.
     *
     * @return a view of exactly {@link #length()} bytes, usable from any thread
     * @throws MemoryNotAccessibleException if the processor cannot access memory of this {@linkplain #kind() kind}; use
     *     {@link #memory()}, or transfer the bytes to a region of host memory
     */
    MemorySegment segment();

    /**
     * Returns the domain that executes atomic operations and signals on this region.
     *
     * @return the domain, as registered
     */
    AtomicDomain atomicDomain();

    /**
     * Returns a counter in this region or slice that peers can add to.
     *
     * @param offset bytes from the start of this region or slice; a multiple of 8, as must be the slice's offset
     * @return a view of the counter, which keeps its current value; creating it registers nothing
     * @throws IndexOutOfBoundsException if the counter's 8 bytes leave this region or slice
     * @throws IllegalArgumentException if the counter's offset or address is not a multiple of 8
     * @throws MemoryNotAccessibleException if neither the processor nor a transport can access words of the memory
     */
    Signal signal(long offset);

    /**
     * Returns a view of a part of this region, with the region's lifetime.
     *
     * @param offset bytes from the start of this region or slice
     * @param length bytes
     * @return the slice; its descriptor gives a peer access to these bytes only
     * @throws IndexOutOfBoundsException if the range leaves this region or slice
     */
    MemoryRegion slice(long offset, long length);

    /**
     * Returns the descriptor with which a peer reaches this region or slice, with all rights of {@link #access()}.
     *
     * @return the descriptor
     * @throws IllegalStateException if the region gives peers no rights
     */
    RegionDescriptor descriptor();

    /**
     * Returns a descriptor with fewer rights.
     *
     * @param rights a subset of {@link #access()}, not empty
     * @return the descriptor
     * @throws IllegalArgumentException if the region lacks one of the rights, or none is given
     */
    RegionDescriptor descriptor(Set<Access> rights);

    /**
     * Computes the CRC-32C (Castagnoli) of a range on the calling thread, in one pass over the bytes, which must not
     * change meanwhile. A peer gets the same value from {@link Connection#checksum}.
     *
     * @param offset bytes from the start of this region or slice
     * @param length bytes
     * @return 0 to 0xFFFFFFFF; 0 for an empty range
     * @throws IndexOutOfBoundsException if the range leaves this region or slice
     * @throws RegionClosedException if the region is closed
     * @throws MemoryNotAccessibleException if neither the processor nor a transport can read the memory
     */
    long checksum(long offset, long length);

    /**
     * Returns whether the region can still be used.
     *
     * @return false from the first call of {@link #close()} on
     */
    boolean isOpen();

    /**
     * Closes the region. From now on peers are refused, and transfers that have not been posted fail with {@link
     * RegionClosedException}. Posted chunks are waited for, at most for the liveness time-out.
     *
     * @return completes once nothing can touch the bytes any more and, for an allocated region, the memory is released;
     *     a second call has the same result. Fails with {@link SluiceException} if an adapter or device may still touch
     *     the bytes, such as a GPU that does not answer, or if its driver does not release the memory within the liveness
     *     time-out, as while a kernel of the user's runs: the memory must not be freed then, and is released later. A
     *     slice cannot be closed: its future fails with {@link IllegalStateException}
     */
    CompletableFuture<Void> close();
}
