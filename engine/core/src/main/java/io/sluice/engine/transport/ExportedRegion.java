package io.sluice.engine.transport;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.RegionMemory;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A region or slice of this engine that a peer has attached on one connection. */
public interface ExportedRegion {
    /**
     * Checks a peer's request and, if it may proceed, leases the region. For an atomic operation or signal that includes
     * the alignment of the word and the region's atomic domain.
     *
     * @param operation what the peer wants
     * @param key as the peer presents it
     * @param epoch as the peer presents it
     * @param offset from the start of the attached slice, as the peer presents it
     * @param length as the peer presents it
     * @return {@link CompletionStatus#SUCCESS} with a lease that {@link #release()} ends, or why not
     */
    CompletionStatus acquire(WorkRequest.Opcode operation, long key, long epoch, long offset, long length);

    /**
     * Leases the region for what the peer does by itself, without a request that could be checked.
     *
     * @return false if it is closed
     */
    boolean lease();

    /** Ends a lease. */
    void release();

    /**
     * The rights of the peer.
     *
     * @return the rights that the descriptor gives
     */
    Set<Access> access();

    /**
     * The domain that executes the region's atomic operations.
     *
     * @return the region's domain
     */
    AtomicDomain atomicDomain();

    /**
     * Whether the region is still open. A lease outlasts the closing, but should then be ended soon.
     *
     * @return false once its owner closes it
     */
    boolean isOpen();

    /**
     * The region's registration with this connection's transport.
     *
     * @return {@code null} if the transport needs none
     */
    @Nullable
    RegisteredMemory registration();

    /**
     * Wakes who waits for a word that an adapter has changed. The lease must be held.
     *
     * @param offset of the word, from the start of the attached slice
     */
    void changed(long offset);

    /**
     * The attached slice's memory.
     *
     * @return what begins at offset 0 of the peer's view
     */
    RegionMemory memory();

    /**
     * Carries out a peer's signal or fetch-and-add on the target's processor, and wakes who waits for the word. The lease
     * must be held.
     *
     * @param offset of the word, from the start of the attached slice
     * @param addend what to add
     * @return what the word held before
     * @throws IllegalStateException if the memory was freed while it is registered
     */
    long fetchAdd(long offset, long addend);

    /**
     * Carries out a peer's compare-and-swap on the target's processor, and wakes who waits for the word. The lease must be
     * held.
     *
     * @param offset of the word, from the start of the attached slice
     * @param expected what it must hold
     * @param replacement what it holds then
     * @return what the word held before
     * @throws IllegalStateException if the memory was freed while it is registered
     */
    long compareAndSwap(long offset, long expected, long replacement);
}
