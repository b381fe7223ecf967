package io.sluice.experts.cuda;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Which tokens of this rank a dispatch of normal mode has sent where, and which rows it has received, in memory of the GPU. Usable for any
 * number of {@linkplain GpuNormalMode#prepareCombine combines} and {@linkplain GpuNormalMode#prepareDispatchAgain further dispatches}; they are of the
 * dispatch that was started last before they are. It has its memory until it is closed. Any thread.
 */
public final class GpuNormalHandle implements AutoCloseable {
    private final CallOwner owner;
    private final OwnRegion memory;
    private final int tokens;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean isStarted;

    GpuNormalHandle(CallOwner owner, OwnRegion memory, int tokens) {
        this.owner = owner;
        this.memory = memory;
        this.tokens = tokens;
    }

    /**
     * Returns the number of tokens of this rank.
     *
     * @return 0 or more
     */
    public int tokens() {
        return tokens;
    }

    OwnRegion memory() {
        return memory;
    }

    /** Throws if it cannot be used by calls of a buffer's. */
    void ensureUsable(CallOwner user) {
        if (!owner.equals(user)) {
            throw new IllegalArgumentException("the handle is of another buffer");
        }
        if (closed.get()) {
            throw new IllegalStateException("the handle is closed");
        }
    }

    /** Throws if its dispatch was never started. */
    void ensureStarted() {
        if (!isStarted) {
            throw new IllegalStateException("the dispatch of the handle has not been started");
        }
    }

    void started() {
        isStarted = true;
    }

    /** Refuses further starts of calls that use it, and gives its memory back once those that were started are done. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            owner.giveBack(memory);
        }
    }
}
