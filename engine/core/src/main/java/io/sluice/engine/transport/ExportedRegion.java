package io.sluice.engine.transport;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.RegionMemory;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A region or slice of this engine that a peer has attached on one connection. */
public interface ExportedRegion {
    /**
     * Checks a peer's request and, if it may proceed, leases the region. For an atomic operation or signal that
     * includes the alignment of the word and the region's atomic domain.
     *
     * @param operation the requested operation
     * @param key as presented by the peer
     * @param epoch as presented by the peer
     * @param offset from the start of the attached slice, as presented by the peer
     * @param length as presented by the peer
     * @return {@link CompletionStatus#SUCCESS} with a lease that {@link #release()} ends, or the refusal
     */
    CompletionStatus acquire(WorkRequest.Opcode operation, long key, long epoch, long offset, long length);

    /**
     * Leases the region for accesses that the peer makes by itself, without requests to check.
     *
     * @return false if the region is closed
     */
    boolean lease();

    /** Ends a lease. */
    void release();

    /**
     * Returns the rights of the peer.
     *
     * @return the rights that the descriptor gives
     */
    Set<Access> access();

    /**
     * Returns the domain that executes the region's atomic operations.
     *
     * @return the region's domain
     */
    AtomicDomain atomicDomain();

    /**
     * Returns whether the region is still open. A lease outlasts the close, but should then be ended soon.
     *
     * @return false once its owner closes it
     */
    boolean isOpen();

    /**
     * Returns the region's registration with this connection's transport.
     *
     * @return {@code null} if the transport needs none
     */
    @Nullable
    RegisteredMemory registration();

    /**
     * Wakes the waiters of a word that an adapter has changed. The lease must be held.
     *
     * @param offset the offset of the word from the start of the attached slice
     */
    void changed(long offset);

    /**
     * Returns the attached slice's memory.
     *
     * @return memory that begins at offset 0 of the peer's view
     */
    RegionMemory memory();

    /**
     * Executes a peer's signal or fetch-and-add on the target's processor and wakes the word's waiters. The lease must
     * be held.
     *
     * @param offset the offset of the word from the start of the attached slice
     * @param addend the number to add
     * @return the previous value
     * @throws IllegalStateException if the memory was freed while it is registered
     */
    long fetchAdd(long offset, long addend);

    /**
     * Executes a peer's compare-and-swap on the target's processor and wakes the word's waiters. The lease must be
     * held.
     *
     * @param offset the offset of the word from the start of the attached slice
     * @param expected the expected value
     * @param replacement the new value
     * @return the previous value
     * @throws IllegalStateException if the memory was freed while it is registered
     */
    long compareAndSwap(long offset, long expected, long replacement);
}
