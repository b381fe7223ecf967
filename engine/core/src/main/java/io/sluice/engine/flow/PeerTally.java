package io.sluice.engine.flow;

import java.util.concurrent.atomic.AtomicLongArray;

/** The counters of one poller's connections to one peer. Only the poller adds; any thread reads. */
public final class PeerTally {
    private static final int OPERATIONS = 0;
    private static final int ERRORS = 1;
    private static final int BYTES = 2;
    private static final int NANOS = 3;

    private final AtomicLongArray values = new AtomicLongArray(4);

    /** All zero. */
    public PeerTally() {}

    private void add(int index, long delta) {
        values.setOpaque(index, values.getPlain(index) + delta);
    }

    void succeeded(long bytes, long nanos) {
        add(OPERATIONS, 1);
        add(BYTES, bytes);
        add(NANOS, nanos);
    }

    void failed() {
        add(ERRORS, 1);
    }

    /**
     * Operations that have succeeded.
     *
     * @return the count
     */
    public long operations() {
        return values.getOpaque(OPERATIONS);
    }

    /**
     * Operations that ended with an error or by their deadline.
     *
     * @return the count
     */
    public long errors() {
        return values.getOpaque(ERRORS);
    }

    /**
     * Bytes of the operations that have succeeded.
     *
     * @return bytes
     */
    public long bytes() {
        return values.getOpaque(BYTES);
    }

    /**
     * How long they took.
     *
     * @return nanoseconds, in sum
     */
    public long nanos() {
        return values.getOpaque(NANOS);
    }
}
