package io.sluice.engine.flow;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Operations and bytes in flight, and their limits. Both counts are in one word, so acquiring or releasing both costs
 * one atomic instruction. Thread-safe.
 */
final class Credits {
    /** The largest limit of bytes. */
    static final long MOST_BYTES = 1L << 40;

    /** The largest limit of operations. */
    static final int MOST_OPERATIONS = 1 << 21;

    /** Returned by {@link #tryTake} if there is not enough. */
    static final long REFUSED = -1;

    // both limits fit, and the sign bit stays free
    private static final int BYTE_BITS = 41;

    private static final long BYTE_MASK = (1L << BYTE_BITS) - 1;
    private static final VarHandle TAKEN;
    private static final VarHandle MAX_OPERATIONS;
    private static final VarHandle MAX_BYTES;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TAKEN = lookup.findVarHandle(Credits.class, "taken", long.class);
            MAX_OPERATIONS = lookup.findVarHandle(Credits.class, "maxOperations", int.class);
            MAX_BYTES = lookup.findVarHandle(Credits.class, "maxBytes", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int operationLimit;
    private final long byteLimit;
    private volatile long taken;
    private volatile int maxOperations;
    private volatile long maxBytes;

    /**
     * Creates credits that are all free.
     *
     * @param operationLimit 1 to {@link #MOST_OPERATIONS}
     * @param byteLimit 1 to {@link #MOST_BYTES}
     */
    Credits(int operationLimit, long byteLimit) {
        if (operationLimit < 1 || operationLimit > MOST_OPERATIONS || byteLimit < 1 || byteLimit > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "no limits are " + operationLimit + " operations and " + byteLimit + " bytes");
        }
        this.operationLimit = operationLimit;
        this.byteLimit = byteLimit;
    }

    /**
     * Takes all or, if that would exceed a limit, nothing.
     *
     * @return the new amount in flight, for {@link #seen}, or {@link #REFUSED}
     */
    long tryTake(int operations, long bytes) {
        long current;
        long next;
        do {
            current = taken;
            if (operations > operationLimit - operationsOf(current) || bytes > byteLimit - bytesOf(current)) {
                return REFUSED;
            }
            next = current + word(operations, bytes);
        } while (!TAKEN.compareAndSet(this, current, next));
        return next;
    }

    /** Records an amount in flight for the high-water marks. */
    void seen(long inFlight) {
        if (operationsOf(inFlight) > maxOperations) {
            raiseOperations(operationsOf(inFlight));
        }
        if (bytesOf(inFlight) > maxBytes) {
            raiseBytes(bytesOf(inFlight));
        }
    }

    /** Gives back what was taken. */
    void giveBack(int operations, long bytes) {
        TAKEN.getAndAdd(this, -word(operations, bytes));
    }

    int operations() {
        return operationsOf(taken);
    }

    long bytes() {
        return bytesOf(taken);
    }

    int operationLimit() {
        return operationLimit;
    }

    long byteLimit() {
        return byteLimit;
    }

    int maxOperations() {
        return maxOperations;
    }

    long maxBytes() {
        return maxBytes;
    }

    private void raiseOperations(int value) {
        int seen = maxOperations;
        while (seen < value && !MAX_OPERATIONS.compareAndSet(this, seen, value)) {
            seen = maxOperations;
        }
    }

    private void raiseBytes(long value) {
        long seen = maxBytes;
        while (seen < value && !MAX_BYTES.compareAndSet(this, seen, value)) {
            seen = maxBytes;
        }
    }

    private static long word(int operations, long bytes) {
        return (long) operations << BYTE_BITS | bytes;
    }

    private static int operationsOf(long word) {
        return (int) (word >>> BYTE_BITS);
    }

    private static long bytesOf(long word) {
        return word & BYTE_MASK;
    }
}
