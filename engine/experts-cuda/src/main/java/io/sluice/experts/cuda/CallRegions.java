package io.sluice.experts.cuda;

import io.sluice.cuda.GpuWork;
import io.sluice.cuda.MappedRegion;
import io.sluice.engine.MemoryRegion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The regions of the user's that a call uses. Those of the first half alone go like any: when they are closed, or the call is. The others
 * are leased together: closed between the halves they stay until the second was started, and is done. Any thread, but for additions.
 */
final class CallRegions {
    private static final int HALF = 1;
    private static final int CLOSING = 2;
    private static final int ENDED = 4;

    private final WaitingCloses waiting;
    private final List<MappedRegion> sent = new ArrayList<>();
    // of memory that the buffer has anyway: works use it, and by it the leases know when they are done
    private final MappedRegion users;
    // null once they have ended
    private @Nullable List<MappedRegion> kept = new ArrayList<>();
    private final AtomicInteger state = new AtomicInteger();

    /**
     * Has none yet.
     *
     * @param own memory that is open as long as the buffer
     */
    CallRegions(WaitingCloses waiting, MemoryRegion own) {
        this.waiting = waiting;
        this.users = MappedRegion.of(own);
        users.released().thenRun(this::endKept);
    }

    // ---- additions ----

    /** Adds one that the first half alone uses, and returns an address in it. */
    long sent(MemoryRegion region, long offset) {
        MappedRegion mapped = MappedRegion.of(region);
        sent.add(mapped);
        return mapped.address() + offset;
    }

    /** Adds one that the second half uses as well, and returns an address in it. */
    long kept(MemoryRegion region, long offset) {
        MappedRegion mapped = MappedRegion.of(region, this::closeKept);
        if (!add(mapped)) {
            // one of them is closed meanwhile
            mapped.close();
        }
        return mapped.address() + offset;
    }

    private synchronized boolean add(MappedRegion mapped) {
        List<MappedRegion> open = kept;
        return open != null && open.add(mapped);
    }

    private void endKept() {
        List<MappedRegion> ended;
        synchronized (this) {
            ended = kept;
            kept = null;
        }
        if (ended != null) {
            ended.forEach(MappedRegion::close);
        }
    }

    /** Says that work uses what the second half does. */
    GpuWork.Builder usedInSecondHalf(GpuWork.Builder work) {
        return work.uses(users);
    }

    /** Says that work uses all of them. */
    GpuWork.Builder used(GpuWork.Builder work) {
        sent.forEach(work::uses);
        return work.uses(users);
    }

    // ---- the halves; of the thread that starts calls ----

    /** Before the first half is started: from here on what the second one uses stays. False if it is closed, or a half is under way. */
    boolean beginHalf() {
        return state.compareAndSet(0, HALF);
    }

    boolean isHalf() {
        return (state.get() & HALF) != 0;
    }

    /** The second half was started, or the first one was not. */
    void endHalf() {
        if (!state.compareAndSet(HALF, 0)) {
            endWaiting();
        }
    }

    // ---- ending ----

    /** Lets the regions go once what was started is done, and those of a second half that is to come after it. */
    void close() {
        sent.forEach(MappedRegion::close);
        closeKept();
    }

    private void closeKept() {
        int now;
        do {
            now = state.get();
            if ((now & (CLOSING | ENDED)) != 0) {
                return;
            }
        } while (!state.compareAndSet(now, now == HALF ? HALF | CLOSING : ENDED));
        if (now == HALF) {
            waiting.add(this);
            if (state.get() == ENDED) {
                // meanwhile, before it was there to be removed
                waiting.remove(this);
            }
        } else {
            users.close();
        }
    }

    /** No second half is waited for any more. */
    void endWaiting() {
        if (state.compareAndSet(HALF | CLOSING, ENDED)) {
            waiting.remove(this);
            users.close();
        }
    }
}
