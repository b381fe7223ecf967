package io.sluice.engine.flow;

import io.sluice.engine.InFlightWindow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The credits of one connection: its poller's, and those of threads that carry out their own small transfers. Any thread. */
final class ConnectionWindow implements InFlightWindow {
    private final int operationLimit;
    private final long byteLimit;
    private final EngineWindow engine;
    private final AtomicInteger operations = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicInteger maxOperations = new AtomicInteger();
    private final AtomicLong maxBytes = new AtomicLong();

    ConnectionWindow(int operationLimit, long byteLimit, EngineWindow engine) {
        this.operationLimit = operationLimit;
        this.byteLimit = byteLimit;
        this.engine = engine;
    }

    /** Takes an operation credit of the connection and one of the engine. */
    Grant tryAcquireOperation(ConnectionFlow flow) {
        int taken;
        do {
            taken = operations.get() + 1;
            if (taken > operationLimit) {
                return Grant.CONNECTION_EXHAUSTED;
            }
        } while (!operations.compareAndSet(taken - 1, taken));
        if (!engine.tryAcquireOperation(flow)) {
            operations.getAndDecrement();
            return Grant.ENGINE_EXHAUSTED;
        }
        EngineWindow.raise(maxOperations, taken);
        return Grant.GRANTED;
    }

    /** Takes byte credits of the connection and of the engine. */
    Grant tryAcquireBytes(ConnectionFlow flow, long count) {
        long taken;
        do {
            taken = bytes.get() + count;
            if (taken > byteLimit) {
                return Grant.CONNECTION_EXHAUSTED;
            }
        } while (!bytes.compareAndSet(taken - count, taken));
        if (!engine.tryAcquireBytes(flow, count)) {
            bytes.getAndAdd(-count);
            return Grant.ENGINE_EXHAUSTED;
        }
        EngineWindow.raise(maxBytes, taken);
        return Grant.GRANTED;
    }

    void releaseOperation() {
        operations.getAndDecrement();
        engine.releaseOperation();
    }

    void releaseBytes(long count) {
        bytes.getAndAdd(-count);
        engine.releaseBytes(count);
    }

    /** The answer to a wish for credits. */
    enum Grant {
        GRANTED,
        CONNECTION_EXHAUSTED,
        ENGINE_EXHAUSTED
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
