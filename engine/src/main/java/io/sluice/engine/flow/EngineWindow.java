package io.sluice.engine.flow;

import io.sluice.engine.InFlightWindow;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The credits that all connections of an engine share. Any thread. */
@SuppressWarnings("ReferenceEquality") // a flow is its own identity
public final class EngineWindow implements InFlightWindow {
    private final int operationLimit;
    private final long byteLimit;
    private final AtomicInteger operations = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicInteger maxOperations = new AtomicInteger();
    private final AtomicLong maxBytes = new AtomicLong();
    // The connections that found no credit, first come, first served. Who waits for bytes holds an operation credit,
    // which others wait for: in one queue each would wait for the other.
    private final ConcurrentLinkedQueue<ConnectionFlow> waitingForOperations = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<ConnectionFlow> waitingForBytes = new ConcurrentLinkedQueue<>();

    /**
     * All credits free.
     *
     * @param operationLimit the most operations
     * @param byteLimit the most bytes
     */
    public EngineWindow(int operationLimit, long byteLimit) {
        this.operationLimit = operationLimit;
        this.byteLimit = byteLimit;
    }

    boolean tryAcquireOperation(ConnectionFlow flow) {
        if (othersGoFirst(waitingForOperations, flow)) {
            return false;
        }
        int current;
        do {
            current = operations.get();
            if (current >= operationLimit) {
                return false;
            }
        } while (!operations.compareAndSet(current, current + 1));
        raise(maxOperations, current + 1);
        return true;
    }

    boolean tryAcquireBytes(ConnectionFlow flow, long count) {
        if (othersGoFirst(waitingForBytes, flow)) {
            return false;
        }
        long current;
        do {
            current = bytes.get();
            if (current + count > byteLimit) {
                return false;
            }
        } while (!bytes.compareAndSet(current, current + count));
        raise(maxBytes, current + count);
        return true;
    }

    void releaseOperation() {
        operations.decrementAndGet();
        wakeFirst(waitingForOperations);
    }

    void releaseBytes(long count) {
        bytes.addAndGet(-count);
        wakeFirst(waitingForBytes);
    }

    private static boolean othersGoFirst(ConcurrentLinkedQueue<ConnectionFlow> waiting, ConnectionFlow flow) {
        ConnectionFlow first = waiting.peek();
        return first != null && first != flow;
    }

    /** Queues a flow. It is pumped when it is first and credits return; it tries once more after this, as they may just have. */
    void awaitOperation(ConnectionFlow flow) {
        waitingForOperations.add(flow);
    }

    /** As {@link #awaitOperation}, for bytes. */
    void awaitBytes(ConnectionFlow flow) {
        waitingForBytes.add(flow);
    }

    /** A flow has got what it waited for, or does not want it any more. */
    void leaveOperations(ConnectionFlow flow) {
        waitingForOperations.remove(flow);
        wakeFirst(waitingForOperations);
    }

    /** As {@link #leaveOperations}, for bytes. */
    void leaveBytes(ConnectionFlow flow) {
        waitingForBytes.remove(flow);
        wakeFirst(waitingForBytes);
    }

    private static void wakeFirst(ConcurrentLinkedQueue<ConnectionFlow> waiting) {
        ConnectionFlow first = waiting.peek();
        if (first != null) {
            first.engineCreditsReturned();
        }
    }

    static void raise(AtomicInteger mark, int value) {
        int seen = mark.get();
        while (seen < value && !mark.compareAndSet(seen, value)) {
            seen = mark.get();
        }
    }

    static void raise(AtomicLong mark, long value) {
        long seen = mark.get();
        while (seen < value && !mark.compareAndSet(seen, value)) {
            seen = mark.get();
        }
    }

    @Override
    public int operationLimit() {
        return operationLimit;
    }

    @Override
    public long byteLimit() {
        return byteLimit;
    }

    @Override
    public int operations() {
        return operations.get();
    }

    @Override
    public long bytes() {
        return bytes.get();
    }

    @Override
    public int maxOperationsSeen() {
        return maxOperations.get();
    }

    @Override
    public long maxBytesSeen() {
        return maxBytes.get();
    }
}
