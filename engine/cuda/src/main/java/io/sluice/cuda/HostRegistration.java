package io.sluice.cuda;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.RegisteredMemory;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory of the host that is a region. It is pinned when a GPU is to touch it for the first time, as most never meet one: on another
 * thread, as that takes long. Any thread.
 */
final class HostRegistration implements RegisteredMemory {
    private static final Logger LOG = LoggerFactory.getLogger(HostRegistration.class);

    private final RegionMemory memory;
    private final MappingThread thread;
    private final List<Runnable> waiting = new ArrayList<>();
    // held while the driver pins; taken before the lock of this
    private final Object pinning = new Object();
    private volatile State state = State.UNPINNED;
    // written before the state
    private PinnedRanges.@Nullable Pin pin;
    private @Nullable Gpu pinnedFor;

    /** How far it is. */
    enum State {
        UNPINNED,
        PINNING,
        PINNED,
        REFUSED,
        CLOSED
    }

    HostRegistration(RegionMemory memory, MappingThread thread) {
        this.memory = memory;
        this.thread = thread;
    }

    State state() {
        return state;
    }

    /** Its pages, once it is pinned. */
    PinnedRanges.Pin pinned() {
        PinnedRanges.Pin pages = pin;
        if (pages == null) {
            throw new IllegalStateException(memory + " is not pinned");
        }
        return pages;
    }

    /** Where a GPU sees it, once it is pinned. */
    long deviceAddress() {
        return pinned().deviceAddress(memory.address());
    }

    /** Lets it be pinned, and runs something once that is done or refused, on another thread. */
    synchronized void pin(Gpu by, Runnable done) {
        if (state == State.UNPINNED) {
            state = State.PINNING;
            waiting.add(done);
            thread.execute(() -> pinNow(by));
        } else if (state == State.PINNING) {
            waiting.add(done);
        } else {
            done.run();
        }
    }

    /** Only {@link #close} waits while the driver is at it, and no poller. */
    private void pinNow(Gpu by) {
        synchronized (pinning) {
            if (state == State.PINNING) {
                PinnedRanges.Pin made = null;
                try {
                    made = PinnedRanges.pin(by, memory.address(), memory.length());
                } catch (CudaException e) {
                    LOG.warn("no GPU reaches {}", memory, e);
                }
                if (made != null) {
                    pinnedFor = by;
                    by.metrics().pinned(memory.length());
                }
                pin = made;
                state = made == null ? State.REFUSED : State.PINNED;
            }
        }
        synchronized (this) {
            waiting.forEach(Runnable::run);
            waiting.clear();
        }
    }

    /** The driver unpins nothing while a kernel runs. */
    @Override
    public boolean waitsForDevice() {
        return state == State.PINNING || state == State.PINNED;
    }

    @Override
    public long lockedBytes() {
        return state == State.PINNED ? memory.length() : 0;
    }

    @Override
    public void close() {
        synchronized (pinning) {
            State before;
            synchronized (this) {
                before = state;
                state = State.CLOSED;
            }
            PinnedRanges.Pin pages = pin;
            Gpu gpu = pinnedFor;
            if (before == State.PINNED && pages != null && gpu != null) {
                pages.close();
                gpu.metrics().pinned(-memory.length());
            }
        }
    }
}
