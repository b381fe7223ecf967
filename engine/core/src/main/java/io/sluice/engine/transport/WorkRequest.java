package io.sluice.engine.transport;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One chunk of a transfer, as a transport sees it. The engine owns it, keeps the local region leased while the transport
 * has it, and uses it again after its completion. A transport neither changes nor keeps it beyond that.
 */
public abstract class WorkRequest {
    /** How long the word of a signal or an atomic operation is, in bytes. */
    public static final int WORD_BYTES = 8;

    /** The operation of a work request. */
    public enum Opcode {
        /** From local to remote memory; then, if it {@linkplain WorkRequest#hasSignal() has one}, the signal. */
        WRITE,
        /** From remote to local memory. */
        READ,
        /** The low-order {@link WorkRequest#length()} bytes of the operand to remote memory, the lowest first. */
        PUT,
        /** Adds the operand to a remote word. */
        SIGNAL,
        /** Adds the operand to a remote word and fetches what it held before. */
        FETCH_ADD,
        /** Puts the operand in place of a remote word that holds what is expected, and fetches what it held before. */
        COMPARE_AND_SWAP;

        /**
         * Whether remote memory is changed, so that it is unknown whether it was if the path breaks.
         *
         * @return true for all but {@link #READ}
         */
        public boolean changesRemote() {
            return this != READ;
        }

        /**
         * Whether it brings back what remote memory held.
         *
         * @return true for {@link #READ} and what {@linkplain #isFetching() fetches}
         */
        public boolean bringsBack() {
            return this == READ || isFetching();
        }

        /**
         * Whether it is atomic at the target: a signal or one that fetches.
         *
         * @return true for {@link #SIGNAL}, {@link #FETCH_ADD} and {@link #COMPARE_AND_SWAP}
         */
        public boolean isAtomic() {
            return this == SIGNAL || isFetching();
        }

        /**
         * Whether it brings back what a word held, and only that.
         *
         * @return true for {@link #FETCH_ADD} and {@link #COMPARE_AND_SWAP}
         */
        public boolean isFetching() {
            return this == FETCH_ADD || this == COMPARE_AND_SWAP;
        }
    }

    private static final RegionMemory NO_MEMORY = RegionMemory.host(MemorySegment.NULL);

    private Opcode operation = Opcode.WRITE;
    private RegionMemory local = NO_MEMORY;
    private @Nullable RegisteredMemory registration;
    private long localOffset;
    private long length;
    private @Nullable RemoteKey remote;
    private long remoteOffset;
    private long operand;
    private long expected;
    private long fetched;
    private @Nullable RemoteKey signal;
    private long signalOffset;
    private long signalAddend;
    private @Nullable StreamEvent startAfter;
    private @Nullable StreamCompletion completesInto;
    private boolean lastOfCompletion;
    private @Nullable PageTable pages;
    private int firstPage;
    private int pageCount;

    /** For the engine's own subclass. */
    protected WorkRequest() {}

    /**
     * Fills the request in.
     *
     * @param what the operation
     * @param memory the local region's
     * @param registered the local region's registration with the transport, if it needs one
     * @param memoryOffset where the chunk begins in it
     * @param bytes how long it is
     * @param key the remote region
     * @param keyOffset where the chunk begins in it
     */
    protected final void describe(
            Opcode what,
            RegionMemory memory,
            @Nullable RegisteredMemory registered,
            long memoryOffset,
            long bytes,
            RemoteKey key,
            long keyOffset) {
        operation = what;
        local = memory;
        registration = registered;
        localOffset = memoryOffset;
        length = bytes;
        remote = key;
        remoteOffset = keyOffset;
    }

    /**
     * Fills in a request that needs no local memory.
     *
     * @param what the operation
     * @param key the remote region
     * @param keyOffset where the value or word lies in it
     * @param bytes 1 to 8 for a put, else 8
     * @param value the operand
     * @param expectation what a compare-and-swap expects
     */
    protected final void describeWord(
            Opcode what, RemoteKey key, long keyOffset, long bytes, long value, long expectation) {
        operation = what;
        local = NO_MEMORY;
        registration = null;
        localOffset = 0;
        length = bytes;
        remote = key;
        remoteOffset = keyOffset;
        operand = value;
        expected = expectation;
        fetched = 0;
    }

    /**
     * Adds a signal to a write.
     *
     * @param key the remote region of the word
     * @param offset where it lies in it
     * @param addend what to add
     */
    protected final void addSignal(RemoteKey key, long offset, long addend) {
        signal = key;
        signalOffset = offset;
        signalAddend = addend;
    }

    /**
     * Lets the request wait on a device.
     *
     * @param event that the endpoint {@linkplain StreamOrder#ordersAfter orders after}, or {@code null} for none
     */
    protected final void startAfter(@Nullable StreamEvent event) {
        startAfter = event;
    }

    /**
     * Sets the event with which a device reports the end of the transfer.
     *
     * @param event that the endpoint {@linkplain StreamOrder#completesInto completes into}
     * @param last whether no request of the same run follows
     */
    protected final void completeInto(@Nullable StreamCompletion event, boolean last) {
        completesInto = event;
        lastOfCompletion = last;
    }

    /**
     * Makes a write or read one of several pages that do not follow each other.
     *
     * @param table where they lie; it is not changed before the request has completed
     * @param first the first of them, by its place in the table
     * @param count how many, 2 to {@link PageTable#MOST_PAGES}; together they have the request's length
     */
    protected final void addPages(PageTable table, int first, int count) {
        pages = table;
        firstPage = first;
        pageCount = count;
    }

    /** Lets go of what the request refers to, so that a pooled one keeps no region alive. */
    protected final void clear() {
        local = NO_MEMORY;
        registration = null;
        remote = null;
        signal = null;
        startAfter = null;
        completesInto = null;
        lastOfCompletion = false;
        pages = null;
    }

    /**
     * The operation to carry out.
     *
     * @return the operation
     */
    public final Opcode operation() {
        return operation;
    }

    /**
     * The local region's memory. Copies by Java code go through its {@linkplain RegionMemory#segment() segment}, so that memory
     * that was freed while it is registered raises an exception and not a fault.
     *
     * @return the whole region's; empty if the request needs none
     */
    public final RegionMemory local() {
        return local;
    }

    /**
     * The local region's registration with the transport.
     *
     * @return {@code null} if the transport needs none, or the request has no local memory
     */
    public final @Nullable RegisteredMemory registration() {
        return registration;
    }

    /**
     * Where the chunk begins in {@link #local()}.
     *
     * @return bytes
     */
    public final long localOffset() {
        return localOffset;
    }

    /**
     * The chunk's address, for the operating system or an adapter, which refuse a bad one.
     *
     * @return the virtual address
     */
    public final long localAddress() {
        return local.address() + localOffset;
    }

    /**
     * How many bytes to move.
     *
     * @return 0 or more
     */
    public final long length() {
        return length;
    }

    /**
     * The remote region.
     *
     * @return its key
     */
    public final RemoteKey remote() {
        RemoteKey key = remote;
        if (key == null) {
            throw new IllegalStateException("the work request is not in use");
        }
        return key;
    }

    /**
     * Where the chunk begins in the remote region or slice.
     *
     * @return bytes
     */
    public final long remoteOffset() {
        return remoteOffset;
    }

    /**
     * The operand to put, add or swap in.
     *
     * @return the operand
     */
    public final long operand() {
        return operand;
    }

    /**
     * The word that a compare-and-swap expects.
     *
     * @return the expected word
     */
    public final long expected() {
        return expected;
    }

    /**
     * For the transport, before a fetching request completes: what the word held.
     *
     * @param word the remote word before the operation
     */
    public final void fetched(long word) {
        fetched = word;
    }

    /**
     * The word before the operation.
     *
     * @return as the transport has reported it
     */
    public final long fetched() {
        return fetched;
    }

    /**
     * Whether a write carries a signal: to be carried out after the write's bytes are in place, only if they are, and
     * completed with them as one. If the signal is refused, the request fails so, though the bytes were written.
     *
     * @return true if it does; never if the transport's {@link Capabilities#writeWithSignal()} is false
     */
    public final boolean hasSignal() {
        return signal != null;
    }

    /**
     * The remote region of the signal's word.
     *
     * @return its key
     */
    public final RemoteKey signal() {
        RemoteKey key = signal;
        if (key == null) {
            throw new IllegalStateException("the work request carries no signal");
        }
        return key;
    }

    /**
     * Where the signal's word lies in its remote region or slice.
     *
     * @return bytes
     */
    public final long signalOffset() {
        return signalOffset;
    }

    /**
     * The addend of the signal.
     *
     * @return the addend
     */
    public final long signalAddend() {
        return signalAddend;
    }

    /**
     * The event after which the request may touch memory: the endpoint takes the request at once, and lets its device
     * wait. A device whose event never happens does not go on, so the endpoint has {@linkplain EndpointContext#failed
     * failed}.
     *
     * @return the event; {@code null} for none, and always so for an endpoint that {@linkplain StreamOrder#ordersAfter orders after}
     *     none
     */
    public final @Nullable StreamEvent startAfter() {
        return startAfter;
    }

    /**
     * The event that the device sets when all requests of a run have been carried out. Each of them carries it; the
     * device sets it once {@linkplain #isLastOfCompletion() the last} and all with the same event that the endpoint has
     * at that time have been carried out, and not if one of these has failed. After a failure no further request of the
     * run carries it, so an endpoint knows enough if it remembers an event while it has requests of it.
     *
     * @return the event; {@code null} for none, and always so for an endpoint that {@linkplain StreamOrder#completesInto completes
     *     into} none
     */
    public final @Nullable StreamCompletion completesInto() {
        return completesInto;
    }

    /**
     * Whether the request is the last of those of its run that carry {@link #completesInto()}.
     *
     * @return true if no other follows
     */
    public final boolean isLastOfCompletion() {
        return lastOfCompletion;
    }

    /**
     * Whether the bytes lie in several pages that do not follow each other; {@link #localOffset()} and {@link #remoteOffset()}
     * are the first page's. Such a request carries no signal. For an endpoint that does not {@linkplain PageLists take} pages that
     * lie anywhere they follow each other at the target, and are in as many pieces here as {@link Capabilities#gatherElements()} at
     * most.
     *
     * @return true if they do; never if the endpoint takes neither
     */
    public final boolean hasPages() {
        return pages != null;
    }

    /**
     * Where the pages lie.
     *
     * @return the table that they are in
     */
    public final PageTable pages() {
        PageTable table = pages;
        if (table == null) {
            throw new IllegalStateException("the work request is not one of pages");
        }
        return table;
    }

    /**
     * The first of the request's pages.
     *
     * @return its place in the table
     */
    public final int firstPage() {
        return firstPage;
    }

    /**
     * How many pages the request has.
     *
     * @return 2 to {@link PageTable#MOST_PAGES}
     */
    public final int pageCount() {
        return pageCount;
    }
}
