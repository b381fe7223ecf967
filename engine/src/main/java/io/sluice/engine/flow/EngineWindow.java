package io.sluice.engine.flow;

import io.sluice.engine.InFlightWindow;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The credits that all connections of an engine share. Any thread. */
public final class EngineWindow implements InFlightWindow {
    private final int operationLimit;
    private final long byteLimit;
    private final AtomicInteger operations = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicInteger maxOperations = new AtomicInteger();
    private final AtomicLong maxBytes = new AtomicLong();
    // the connections that found no credit, first come, first served
    private final ConcurrentLinkedQueue<ConnectionFlow> waiting = new ConcurrentLinkedQueue<>();

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

    boolean tryAcquireOperation() {
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

    boolean tryAcquireBytes(long count) {
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
        passOn();
    }

    void releaseBytes(long count) {
        bytes.addAndGet(-count);
        passOn();
    }

    /** The flow is pumped again when credits return. The caller tries once more after this, as they may just have. */
    void await(ConnectionFlow flow) {
        if (flow.markAwaitingEngine()) {
            waiting.add(flow);
        }
    }

    /** Wakes the flow that has waited longest, if there is one. */
    void passOn() {
        if (!waiting.isEmpty()) {
            ConnectionFlow flow = waiting.poll();
            if (flow != null) {
                flow.engineCreditsReturned();
            }
        }
    }

    private static void raise(AtomicInteger mark, int value) {
        int seen = mark.get();
        while (seen < value && !mark.compareAndSet(seen, value)) {
            seen = mark.get();
        }
    }

    private static void raise(AtomicLong mark, long value) {
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
