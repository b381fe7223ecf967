package io.sluice.comm.nccl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.sluice.comm.rounds.Gpu;
import io.sluice.comm.rounds.Pause;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that calls the library for one connection: a communicator of two ranks, a stream, and a word of pinned memory in which
 * the stream stores the number of the group that it has done last. Nothing else calls the library for them, so that no poller waits
 * for it; the loop looks at the word.
 */
final class PairWorker implements Runnable {
    /** What it reports; called on its own thread. */
    interface Owner {
        /** The communicator has come about. */
        void ready();

        /** The library has failed. */
        void failed(RuntimeException error);
    }

    private static final Logger LOG = LoggerFactory.getLogger(PairWorker.class);
    private static final AtomicInteger NUMBERS = new AtomicInteger();
    private static final VarHandle WORD = JAVA_LONG.varHandle();
    private static final long WORD_OFFSET = 0;
    private static final int PINNED_BYTES = 4096;
    private static final int RANKS = 2;
    private static final int SPINS = 100;
    // how late an error of the library's is noticed while groups are under way
    private static final long WATCH_NANOS = 20_000_000;
    private static final long LONGEST_END_NANOS = 5_000_000_000L;

    private final NcclLibrary library;
    private final int ordinal;
    private final int rank;
    private final byte[] id;
    private final Owner owner;
    private final Thread thread;
    private final ConcurrentLinkedQueue<TransferGroup> groups = new ConcurrentLinkedQueue<>();
    private volatile @Nullable MemorySegment pinned;
    private volatile boolean isParked;
    private volatile boolean isStopping;
    // before the communicator is aborted: what the stream stores from then on says nothing
    private volatile boolean isAborted;
    private volatile boolean hasEnded;
    private volatile boolean isReleased;

    // the thread's own
    private @Nullable Gpu gpu;
    private @Nullable Arena arena;
    private MemorySegment communicator = MemorySegment.NULL;
    private MemorySegment stream = MemorySegment.NULL;
    private MemorySegment result = MemorySegment.NULL;
    private long launched;

    PairWorker(NcclLibrary library, int ordinal, int rank, byte[] id, Owner owner) {
        this.library = library;
        this.ordinal = ordinal;
        this.rank = rank;
        this.id = id;
        this.owner = owner;
        this.thread = Thread.ofPlatform()
                .daemon()
                .name("sluice-nccl-" + NUMBERS.incrementAndGet())
                .unstarted(this);
    }

    // ---- for the loop ----

    void start() {
        thread.start();
    }

    /** Gives the library a group, behind those before it. */
    void add(TransferGroup group) {
        groups.add(group);
        if (isParked) {
            wake();
        }
    }

    /** The number of the group that was done last. */
    long reached() {
        MemorySegment memory = pinned;
        if (memory == null || hasEnded) {
            return 0;
        }
        long number = (long) WORD.getAcquire(memory, WORD_OFFSET);
        return isAborted ? 0 : number;
    }

    /** Launches nothing more, and ends what is under way. */
    void stop() {
        isStopping = true;
        wake();
    }

    /** Whether the GPU does nothing more of it, after {@link #stop} or an error. */
    boolean hasEnded() {
        return hasEnded;
    }

    /** The loop does not look at the word any more. */
    void release() {
        isReleased = true;
        wake();
    }

    private void wake() {
        LockSupport.unpark(thread);
    }

    // ---- the thread ----

    @Override
    public void run() {
        try {
            if (open()) {
                owner.ready();
                for (TransferGroup next = next(); next != null; next = next()) {
                    launch(next);
                }
            }
        } catch (RuntimeException | Error e) {
            report(e);
        }
        try {
            end();
        } catch (RuntimeException | Error e) {
            LOG.error("{}: the library may still use the memory of its connection, which stays leased", name(), e);
        }
    }

    private void report(Throwable error) {
        if (isStopping) {
            return;
        }
        try {
            owner.failed(error instanceof RuntimeException known ? known : new IllegalStateException(error));
        } catch (RuntimeException e) {
            // the loop runs no more
            LOG.debug("{}: nothing takes the report of an error", name(), e);
        }
    }

    private String name() {
        return thread.getName();
    }

    private boolean open() {
        Gpu opened = Gpu.numbered(ordinal, PINNED_BYTES);
        gpu = opened;
        opened.makeCurrent();
        stream = opened.stream();
        pinned = opened.pinned();
        Arena memory = Arena.ofShared();
        arena = memory;
        result = memory.allocate(JAVA_INT);
        MemorySegment created = memory.allocate(ADDRESS);
        library.initialise(memory, created, id, rank, RANKS);
        communicator = created.get(ADDRESS, 0);
        return awaitReady();
    }

    /** False if it is to stop. */
    private boolean awaitReady() {
        Pause pause = new Pause();
        while (!isStopping) {
            if (library.isReady(communicator, result)) {
                return true;
            }
            pause.again();
        }
        return false;
    }

    private @Nullable TransferGroup next() {
        int looks = 0;
        while (!isStopping) {
            TransferGroup next = groups.poll();
            if (next != null) {
                return next;
            }
            if (looks++ < SPINS) {
                Thread.onSpinWait();
                continue;
            }
            isParked = true;
            if (groups.isEmpty() && !isStopping) {
                if (reached() < launched) {
                    LockSupport.parkNanos(this, WATCH_NANOS);
                    // throws if it has failed
                    library.isReady(communicator, result);
                } else {
                    LockSupport.park(this);
                }
            }
            isParked = false;
        }
        return null;
    }

    private void launch(TransferGroup group) {
        int peer = 1 - rank;
        library.startGroup();
        try {
            for (int i = 0; i < group.count(); i++) {
                if (group.isSend(i)) {
                    library.send(group.address(i), group.length(i), peer, communicator, stream);
                } else {
                    library.receive(group.address(i), group.length(i), peer, communicator, stream);
                }
            }
        } finally {
            // else the next group of this thread would be within this one
            library.endGroup(communicator);
        }
        Gpu opened = gpu;
        if (awaitReady() && opened != null) {
            long number = group.number();
            opened.store(WORD_OFFSET, number);
            launched = number;
        }
    }

    private void end() {
        isAborted = true;
        boolean isGone = communicator.equals(MemorySegment.NULL) || library.abort(communicator);
        communicator = MemorySegment.NULL;
        Gpu opened = gpu;
        if (opened != null && !opened.awaitIdle(LONGEST_END_NANOS)) {
            LOG.warn("{}: GPU {} does not end its work: the memory of its connection stays leased", name(), ordinal);
            while (!opened.awaitIdle(LONGEST_END_NANOS)) {
                // a kernel that cannot be stopped has its memory
            }
        }
        hasEnded = true;
        while (!isReleased) {
            LockSupport.park(this);
        }
        pinned = null;
        if (opened != null) {
            opened.close(0);
        }
        Arena memory = arena;
        if (memory != null && isGone) {
            // else the library may still write to it
            memory.close();
        }
    }
}
