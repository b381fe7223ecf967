package io.sluice.engine.transport;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One chunk of a transfer, as a transport sees it. The engine owns it, keeps the local region leased while the
 * transport has it, and reuses it after its completion. A transport must neither change it nor keep it beyond that.
 */
public abstract class WorkRequest {
    /** The length of the word of a signal or atomic operation, in bytes. */
    public static final int WORD_BYTES = 8;

    /** The operation of a work request. */
    public enum Opcode {
        /**
         * Copies local to remote memory and then executes the signal, if it {@linkplain WorkRequest#hasSignal() has
         * one}.
         */
        WRITE,
        /** Copies remote to local memory. */
        READ,
        /**
         * Writes the low-order {@link WorkRequest#length()} bytes of the operand to remote memory, the lowest first.
         */
        PUT,
        /** Adds the operand to a remote word. */
        SIGNAL,
        /** Adds the operand to a remote word and fetches its previous value. */
        FETCH_ADD,
        /** Replaces a remote word by the operand if it has the expected value, and fetches its previous value. */
        COMPARE_AND_SWAP;

        /**
         * Returns whether the operation changes remote memory, so that the outcome is unknown if the path breaks.
         *
         * @return true for all but {@link #READ}
         */
        public boolean changesRemote() {
            return this != READ;
        }

        /**
         * Returns whether the operation returns content of remote memory.
         *
         * @return true for {@link #READ} and {@linkplain #isFetching() fetching} operations
         */
        public boolean bringsBack() {
            return this == READ || isFetching();
        }

        /**
         * Returns whether the operation is atomic at the target: a signal or a fetching operation.
         *
         * @return true for {@link #SIGNAL}, {@link #FETCH_ADD} and {@link #COMPARE_AND_SWAP}
         */
        public boolean isAtomic() {
            return this == SIGNAL || isFetching();
        }

        /**
         * Returns whether the operation returns only the previous value of a word.
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
    // whether it has a signal, an event or pages: most have none, and then nothing of these has to be cleared
    private boolean extended;

    /** For the engine's subclass. */
    protected WorkRequest() {}

    /**
     * Fills in the request.
     *
     * @param what the operation
     * @param memory the local region's memory
     * @param registered the local region's registration with the transport, if it needs one
     * @param memoryOffset the start of the chunk in the local memory
     * @param bytes the length of the chunk
     * @param key the remote region
     * @param keyOffset the start of the chunk in the remote region
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
     * @param keyOffset the offset of the value or word in it
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
     * @param offset the offset of the word in it
     * @param addend the number to add
     */
    protected final void addSignal(RemoteKey key, long offset, long addend) {
        extended = true;
        signal = key;
        signalOffset = offset;
        signalAddend = addend;
    }

    /**
     * Makes the request wait on a device.
     *
     * @param event an event that the endpoint {@linkplain StreamOrder#ordersAfter orders after}, or {@code null} for
     *     none
     */
    protected final void startAfter(@Nullable StreamEvent event) {
        extended = true;
        startAfter = event;
    }

    /**
     * Sets the event with which a device reports the end of the transfer.
     *
     * @param event an event that the endpoint {@linkplain StreamOrder#completesInto completes into}
     * @param last whether no request of the same run follows
     */
    protected final void completeInto(@Nullable StreamCompletion event, boolean last) {
        extended = true;
        completesInto = event;
        lastOfCompletion = last;
    }

    /**
     * Makes a write or read one of several pages that are not adjacent.
     *
     * @param table the table of pages, which is not changed before the request has completed
     * @param first the position of the first page in the table
     * @param count the number of pages, 2 to {@link PageTable#MOST_PAGES}; together they have the request's length
     */
    protected final void addPages(PageTable table, int first, int count) {
        extended = true;
        pages = table;
        firstPage = first;
        pageCount = count;
    }

    /** Clears all references, so that a pooled request keeps no region alive. */
    protected final void clear() {
        local = NO_MEMORY;
        registration = null;
        remote = null;
        if (extended) {
            extended = false;
            signal = null;
            startAfter = null;
            completesInto = null;
            lastOfCompletion = false;
            pages = null;
        }
    }

    /**
     * Returns the operation to execute.
     *
     * @return the operation
     */
    public final Opcode operation() {
        return operation;
    }

    /**
     * Returns the local region's memory. Java code must copy through its {@linkplain RegionMemory#segment() segment},
     * so that memory freed while it is registered raises an exception and not a fault.
     *
     * @return the memory of the whole region; empty if the request needs none
     */
    public final RegionMemory local() {
        return local;
    }

    /**
     * Returns the local region's registration with the transport.
     *
     * @return {@code null} if the transport needs none, or the request has no local memory
     */
    public final @Nullable RegisteredMemory registration() {
        return registration;
    }

    /**
     * Returns the start of the chunk in {@link #local()}.
     *
     * @return bytes
     */
    public final long localOffset() {
        return localOffset;
    }

    /**
     * Returns the chunk's address, for the operating system or an adapter, which refuse a bad one.
     *
     * @return the virtual address
     */
    public final long localAddress() {
        return local.address() + localOffset;
    }

    /**
     * Returns the number of bytes to move.
     *
     * @return 0 or more
     */
    public final long length() {
        return length;
    }

    /**
     * Returns the key of the remote region.
     *
     * @return the key
     */
    public final RemoteKey remote() {
        RemoteKey key = remote;
        if (key == null) {
            throw new IllegalStateException("the work request is not in use");
        }
        return key;
    }

    /**
     * Returns the start of the chunk in the remote region or slice.
     *
     * @return bytes
     */
    public final long remoteOffset() {
        return remoteOffset;
    }

    /**
     * Returns the operand to put, add or swap in.
     *
     * @return the operand
     */
    public final long operand() {
        return operand;
    }

    /**
     * Returns the value that a compare-and-swap expects.
     *
     * @return the expected word
     */
    public final long expected() {
        return expected;
    }

    /**
     * Sets the fetched value. Called by the transport before a fetching request completes.
     *
     * @param word the remote word before the operation
     */
    public final void fetched(long word) {
        fetched = word;
    }

    /**
     * Returns the word's value before the operation.
     *
     * @return the value that the transport reported
     */
    public final long fetched() {
        return fetched;
    }

    /**
     * Returns whether a write carries a signal, to be executed only after the write's bytes are in place, and completed
     * together with them. If the signal is refused, the request fails with that status although the bytes were written.
     *
     * @return true if it does; never if the transport's {@link Capabilities#writeWithSignal()} is false
     */
    public final boolean hasSignal() {
        return signal != null;
    }

    /**
     * Returns the key of the signal's remote region.
     *
     * @return the key
     */
    public final RemoteKey signal() {
        RemoteKey key = signal;
        if (key == null) {
            throw new IllegalStateException("the work request carries no signal");
        }
        return key;
    }

    /**
     * Returns the offset of the signal's word in its remote region or slice.
     *
     * @return bytes
     */
    public final long signalOffset() {
        return signalOffset;
    }

    /**
     * Returns the addend of the signal.
     *
     * @return the addend
     */
    public final long signalAddend() {
        return signalAddend;
    }

    /**
     * Returns the event after which the request may touch memory: the endpoint accepts the request immediately and its
     * device waits. If the event never happens, the device makes no progress and the endpoint must report that it has
     * {@linkplain EndpointContext#failed failed}.
     *
     * @return the event; {@code null} for none, and always so for an endpoint that {@linkplain StreamOrder#ordersAfter
     *     orders after} none
     */
    public final @Nullable StreamEvent startAfter() {
        return startAfter;
    }

    /**
     * Returns the event that the device sets when all requests of a run have been executed. Each of them carries it.
     * The device sets it once {@linkplain #isLastOfCompletion() the last} request, and all others with the same event
     * that the endpoint has at that time, have been executed, but not if one of these failed. After a failure no
     * further request of the run carries it, so an endpoint need remember an event only while it has requests with it.
     *
     * @return the event; {@code null} for none, and always so for an endpoint that {@linkplain
     *     StreamOrder#completesInto completes into} none
     */
    public final @Nullable StreamCompletion completesInto() {
        return completesInto;
    }

    /**
     * Returns whether the request is the last of its run that carries {@link #completesInto()}.
     *
     * @return true if no other follows
     */
    public final boolean isLastOfCompletion() {
        return lastOfCompletion;
    }

    /**
     * Returns whether the bytes lie in several pages that are not adjacent; {@link #localOffset()} and {@link
     * #remoteOffset()} are those of the first page. Such a request carries no signal. For an endpoint that does not
     * {@linkplain PageLists accept} pages anywhere, they are adjacent in the remote region and in at most {@link
     * Capabilities#gatherElements()} pieces of local memory.
     *
     * @return true if they do; never if the endpoint supports neither
     */
    public final boolean hasPages() {
        return pages != null;
    }

    /**
     * Returns the table of pages.
     *
     * @return the table
     */
    public final PageTable pages() {
        PageTable table = pages;
        if (table == null) {
            throw new IllegalStateException("the work request is not one of pages");
        }
        return table;
    }

    /**
     * Returns the first of the request's pages.
     *
     * @return the position in the table
     */
    public final int firstPage() {
        return firstPage;
    }

    /**
     * Returns the number of pages of the request.
     *
     * @return 2 to {@link PageTable#MOST_PAGES}
     */
    public final int pageCount() {
        return pageCount;
    }
}
