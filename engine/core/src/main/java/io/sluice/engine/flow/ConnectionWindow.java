package io.sluice.engine.flow;

/**
 * The credits of one connection: its poller's, and those of threads that execute their own small transfers. Any thread.
 */
final class ConnectionWindow extends CreditedWindow {
    private final EngineWindow engine;

    ConnectionWindow(int operationLimit, long byteLimit, EngineWindow engine) {
        super(new Credits(operationLimit, byteLimit));
        this.engine = engine;
    }

    /** Takes an operation credit of the connection and one of the engine. */
    Grant tryAcquireOperation(CreditWaiter waiter) {
        return tryAcquire(waiter, 1, 0);
    }

    /** Takes byte credits of the connection and of the engine. */
    Grant tryAcquireBytes(CreditWaiter waiter, long count) {
        return tryAcquire(waiter, 0, count);
    }

    /** Takes both kinds at once, of the connection and of the engine, or none. */
    Grant tryAcquire(CreditWaiter waiter, int operations, long bytes) {
        long inFlight = credits.tryTake(operations, bytes);
        if (inFlight == Credits.REFUSED) {
            return Grant.CONNECTION_EXHAUSTED;
        }
        if (!engine.tryAcquire(waiter, operations, bytes)) {
            credits.giveBack(operations, bytes);
            return Grant.ENGINE_EXHAUSTED;
        }
        credits.seen(inFlight);
        return Grant.GRANTED;
    }

    @Override
    void release(int operations, long bytes) {
        credits.giveBack(operations, bytes);
        engine.release(operations, bytes);
    }

    /** The result of a request for credits. */
    enum Grant {
        GRANTED,
        CONNECTION_EXHAUSTED,
        ENGINE_EXHAUSTED
    }
}
