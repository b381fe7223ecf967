package io.sluice.engine.flow;

import io.sluice.engine.InFlightWindow;

/** The credits of one connection: its poller's, and those of threads that carry out their own small transfers. Any thread. */
final class ConnectionWindow implements InFlightWindow {
    private final Credits credits;
    private final EngineWindow engine;

    ConnectionWindow(int operationLimit, long byteLimit, EngineWindow engine) {
        this.credits = new Credits(operationLimit, byteLimit);
        this.engine = engine;
    }

    /** Takes an operation credit of the connection and one of the engine. */
    Grant tryAcquireOperation(ConnectionFlow flow) {
        return tryAcquire(flow, 1, 0);
    }

    /** Takes byte credits of the connection and of the engine. */
    Grant tryAcquireBytes(ConnectionFlow flow, long count) {
        return tryAcquire(flow, 0, count);
    }

    /** Takes both kinds at once, of the connection and of the engine, or none. */
    Grant tryAcquire(ConnectionFlow flow, int operations, long bytes) {
        long inFlight = credits.tryTake(operations, bytes);
        if (inFlight == Credits.REFUSED) {
            return Grant.CONNECTION_EXHAUSTED;
        }
        if (!engine.tryAcquire(flow, operations, bytes)) {
            credits.giveBack(operations, bytes);
            return Grant.ENGINE_EXHAUSTED;
        }
        credits.seen(inFlight);
        return Grant.GRANTED;
    }

    void releaseOperation() {
        release(1, 0);
    }

    void releaseBytes(long count) {
        release(0, count);
    }

    void release(int operations, long bytes) {
        credits.giveBack(operations, bytes);
        engine.release(operations, bytes);
    }

    /** The answer to a wish for credits. */
    enum Grant {
        GRANTED,
        CONNECTION_EXHAUSTED,
        ENGINE_EXHAUSTED
    }

    @Override
    public int operationLimit() {
        return credits.operationLimit();
    }

    @Override
    public long byteLimit() {
        return credits.byteLimit();
    }

    @Override
    public int operations() {
        return credits.operations();
    }

    @Override
    public long bytes() {
        return credits.bytes();
    }

    @Override
    public int maxOperationsSeen() {
        return credits.maxOperations();
    }

    @Override
    public long maxBytesSeen() {
        return credits.maxBytes();
    }
}
