package io.sluice.experts;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Which tokens of this rank a dispatch of normal mode has sent where, and which rows it has received. Usable for any number of
 * {@linkplain NormalOperations#combine combines} and {@linkplain NormalOperations#dispatchAgain further dispatches}, one
 * combine at a time. Closing it lets a later dispatch use its memory, so that nothing is allocated; a handle that is not
 * closed costs memory of the heap alone. May be used from any thread.
 */
public final class NormalHandle implements AutoCloseable {
    private static final int CLOSED = 1;
    private static final int USE = 2;

    private final Object owner;
    private final Consumer<NormalHandle> pool;
    final NormalCombineCall combine = new NormalCombineCall(this);
    private final int maxTokens;
    // int32 [ranks, most tokens]
    private final MemorySegment sent;
    private final int[] sentCounts;
    private final int[] sentRows;
    private final int[] firstRows;
    private final int[] rowCounts;
    private final int[] expertCounts;
    private int tokens;
    private int received;
    private long dispatch;
    private boolean fixedPlaces;
    // how often it is in use, and whether it is closed
    private final AtomicInteger uses = new AtomicInteger(CLOSED);
    private volatile boolean complete;

    /**
     * Creates one, closed.
     *
     * @param owner the buffer's normal mode
     * @param pool gets it when nothing uses it any more
     */
    NormalHandle(Object owner, NormalMemory at, Consumer<NormalHandle> pool) {
        this.owner = owner;
        this.pool = pool;
        this.maxTokens = at.maxTokens;
        this.sent = Arena.ofAuto().allocate((long) at.capacity() * Integer.BYTES, Integer.BYTES);
        this.sentCounts = new int[at.ranks];
        this.sentRows = new int[at.ranks];
        this.firstRows = new int[at.ranks];
        this.rowCounts = new int[at.ranks];
        this.expertCounts = new int[at.localExperts];
    }

    boolean isOf(Object candidate) {
        return owner.equals(candidate);
    }

    /** Takes the handle out of the pool for a dispatch, which {@linkplain #release releases} it when it has ended. */
    void open(NormalLayout layout) {
        complete = false;
        tokens = layout.tokens();
        for (int rank = 0; rank < sentCounts.length; rank++) {
            sentCounts[rank] = layout.tokensToRank(rank);
            MemorySegment.copy(layout.sentTo(rank), 0, sent, ValueLayout.JAVA_INT, sentAt(rank), sentCounts[rank]);
        }
        uses.set(USE);
    }

    /**
     * Keeps it from the pool until {@link #release}.
     *
     * @throws IllegalStateException if it is closed
     */
    void acquire() {
        int now = uses.get();
        while ((now & CLOSED) == 0) {
            if (uses.compareAndSet(now, now + USE)) {
                return;
            }
            now = uses.get();
        }
        throw new IllegalStateException("the handle is closed");
    }

    void release() {
        if (uses.addAndGet(-USE) == CLOSED) {
            pool.accept(this);
        }
    }

    @Override
    public void close() {
        int now = uses.get();
        while ((now & CLOSED) == 0) {
            if (uses.compareAndSet(now, now | CLOSED)) {
                if (now == 0) {
                    pool.accept(this);
                }
                return;
            }
            now = uses.get();
        }
    }

    /** The dispatch has ended. */
    void complete() {
        complete = true;
    }

    /** Whether its dispatch has ended. */
    boolean isComplete() {
        return complete;
    }

    /**
     * Returns the number of tokens of this rank.
     *
     * @return 0 or more
     */
    public int tokens() {
        return tokens;
    }

    /**
     * Returns how many rows this rank has received.
     *
     * @return 0 or more
     */
    public int received() {
        return received;
    }

    // ---- what this rank sends ----

    /** The tokens that go to ranks, from {@link #sentAt} of each on. */
    MemorySegment sent() {
        return sent;
    }

    long sentAt(int rank) {
        return (long) rank * maxTokens * Integer.BYTES;
    }

    int sentToken(int rank, int index) {
        return sent.get(ValueLayout.JAVA_INT, sentAt(rank) + (long) index * Integer.BYTES);
    }

    int sentCount(int rank) {
        return sentCounts[rank];
    }

    /** The row of another rank's result with which the rows of this one begin. */
    int sentRow(int rank) {
        return sentRows[rank];
    }

    void beginAt(int rank, int row) {
        sentRows[rank] = row;
    }

    /** The number of its dispatch, the same on all ranks; the loop's. */
    long dispatch() {
        return dispatch;
    }

    void dispatch(long number) {
        dispatch = number;
    }

    /** Whether rows arrive where there is room for all that their rank may send, not where they belong. */
    boolean hasFixedPlaces() {
        return fixedPlaces;
    }

    void fixedPlaces(boolean value) {
        fixedPlaces = value;
    }

    // ---- what it receives ----

    int firstRow(int rank) {
        return firstRows[rank];
    }

    int rowCount(int rank) {
        return rowCounts[rank];
    }

    /** Says which rows are from a rank; all ranks in ascending order. */
    void rowsFrom(int rank, int count) {
        firstRows[rank] = rank == 0 ? 0 : firstRows[rank - 1] + rowCounts[rank - 1];
        rowCounts[rank] = count;
        received = firstRows[rank] + count;
    }

    int[] expertCounts() {
        return expertCounts;
    }
}
