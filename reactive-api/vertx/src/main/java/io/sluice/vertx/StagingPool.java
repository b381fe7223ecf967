package io.sluice.vertx;

import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Registered memory for the bytes of buffers: one region of a fixed size, divided into slots. Allocated on first use.
 * Transfers that find no free slot wait in line; a slot is freed only when nothing can access it any more.
 */
final class StagingPool {
    /**
     * A slot of the staging region, used by one chunk.
     *
     * @param region the staging region
     * @param offset the start of the slot in bytes
     * @param bytes its length
     */
    record Slot(MemoryRegion region, long offset, int bytes) {
        MemorySegment segment() {
            return region.segment().asSlice(offset, bytes);
        }
    }

    /** Waits for a slot. Called once for each wait, by any thread; must not block. */
    interface Taker {
        void granted(Slot slot);

        void refused(SluiceException error);
    }

    private final TransferEngine engine;
    private final int slots;
    private final int slotBytes;

    // all guarded by this object
    private final Deque<Slot> free = new ArrayDeque<>();
    private final Deque<Taker> waiting = new ArrayDeque<>();
    private @Nullable MemoryRegion region;
    private boolean allocating;
    private boolean closed;

    StagingPool(TransferEngine engine, long bytes, int slotBytes) {
        this.engine = engine;
        this.slotBytes = slotBytes;
        this.slots = Math.toIntExact(Math.max(1, bytes / slotBytes));
    }

    /** The number of free slots; 0 before the region is allocated. */
    synchronized int free() {
        return free.size();
    }

    /**
     * Takes a slot, or a place in the queue.
     *
     * @return {@code null} if the taker will be called later
     * @throws TooManyPendingException if too many wait
     * @throws ConnectionClosedException if the engine is closed
     */
    @Nullable
    Slot acquire(Taker taker) {
        synchronized (this) {
            if (closed) {
                throw closed();
            }
            Slot slot = free.poll();
            if (slot != null) {
                return slot;
            }
            int most = engine.options().maxPending();
            if (waiting.size() >= most) {
                throw new TooManyPendingException(most + " transfers of buffers wait for staging memory already");
            }
            waiting.add(taker);
            if (region != null || allocating) {
                return null;
            }
            allocating = true;
        }
        allocate();
        return null;
    }

    /** Leaves the queue. */
    synchronized boolean forget(Taker taker) {
        return waiting.remove(taker);
    }

    /** Frees a slot that nothing accesses any more. */
    void release(Slot slot) {
        Taker next;
        synchronized (this) {
            next = waiting.poll();
            if (next == null) {
                free.push(slot);
                return;
            }
        }
        next.granted(slot);
    }

    /** Fails all waiters. The engine frees the region. */
    void close() {
        synchronized (this) {
            closed = true;
        }
        refuseAll(closed());
    }

    /**
     * Allocates the region. That may take a while, because some transports lock the memory. It runs on its own thread:
     * the pool serves many contexts, each of which may end meanwhile with the queued work of its workers.
     */
    private void allocate() {
        try {
            Thread.ofPlatform()
                    .name("sluice-staging")
                    .daemon()
                    .inheritInheritableThreadLocals(false)
                    .start(this::allocateRegion);
        } catch (RuntimeException | Error noThread) {
            notAllocated(noThread);
        }
    }

    private void allocateRegion() {
        MemoryRegion memory;
        try {
            memory = engine.allocate((long) slots * slotBytes, RegionOptions.local());
        } catch (RuntimeException | Error refused) {
            notAllocated(refused);
            return;
        }
        allocated(memory);
    }

    private void allocated(MemoryRegion memory) {
        List<Taker> takers = new ArrayList<>();
        List<Slot> taken = new ArrayList<>();
        synchronized (this) {
            allocating = false;
            region = memory;
            for (int slot = 0; slot < slots; slot++) {
                free.add(new Slot(memory, (long) slot * slotBytes, slotBytes));
            }
            while (!closed && !waiting.isEmpty() && !free.isEmpty()) {
                takers.add(waiting.remove());
                taken.add(free.remove());
            }
        }
        for (int i = 0; i < takers.size(); i++) {
            takers.get(i).granted(taken.get(i));
        }
    }

    private void notAllocated(Throwable cause) {
        synchronized (this) {
            allocating = false;
        }
        refuseAll(
                cause instanceof SluiceException known
                        ? known
                        : new SluiceException(
                                "cannot allocate " + (long) slots * slotBytes + " bytes of staging memory: "
                                        + cause.getMessage() + "; lower TransferClientOptions.setStagingBytes",
                                cause));
    }

    private void refuseAll(SluiceException error) {
        List<Taker> refused;
        synchronized (this) {
            refused = new ArrayList<>(waiting);
            waiting.clear();
        }
        refused.forEach(taker -> taker.refused(error));
    }

    private static ConnectionClosedException closed() {
        return new ConnectionClosedException("the engine is closed");
    }
}
