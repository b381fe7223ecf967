package io.sluice.engine.flow;

import io.sluice.engine.InFlightWindow;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The credits of one connection. Its poller alone changes them, any thread may read. */
final class ConnectionWindow implements InFlightWindow {
    private static final VarHandle OPERATIONS = handle("operations", int.class);
    private static final VarHandle BYTES = handle("bytes", long.class);
    private static final VarHandle MAX_OPERATIONS = handle("maxOperations", int.class);
    private static final VarHandle MAX_BYTES = handle("maxBytes", long.class);

    private final int operationLimit;
    private final long byteLimit;
    private final EngineWindow engine;
    private int operations;
    private long bytes;
    private int maxOperations;
    private long maxBytes;

    ConnectionWindow(int operationLimit, long byteLimit, EngineWindow engine) {
        this.operationLimit = operationLimit;
        this.byteLimit = byteLimit;
        this.engine = engine;
    }

    /** Takes an operation credit of the connection and one of the engine. */
    Grant tryAcquireOperation(ConnectionFlow flow) {
        if (operations >= operationLimit) {
            return Grant.CONNECTION_EXHAUSTED;
        }
        if (!engine.tryAcquireOperation(flow)) {
            return Grant.ENGINE_EXHAUSTED;
        }
        int taken = operations + 1;
        OPERATIONS.setOpaque(this, taken);
        if (taken > maxOperations) {
            MAX_OPERATIONS.setOpaque(this, taken);
        }
        return Grant.GRANTED;
    }

    /** Takes byte credits of the connection and of the engine. */
    Grant tryAcquireBytes(ConnectionFlow flow, long count) {
        long taken = bytes + count;
        if (taken > byteLimit) {
            return Grant.CONNECTION_EXHAUSTED;
        }
        if (!engine.tryAcquireBytes(flow, count)) {
            return Grant.ENGINE_EXHAUSTED;
        }
        BYTES.setOpaque(this, taken);
        if (taken > maxBytes) {
            MAX_BYTES.setOpaque(this, taken);
        }
        return Grant.GRANTED;
    }

    void releaseOperation() {
        OPERATIONS.setOpaque(this, operations - 1);
        engine.releaseOperation();
    }

    void releaseBytes(long count) {
        BYTES.setOpaque(this, bytes - count);
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
        return (int) OPERATIONS.getOpaque(this);
    }

    @Override
    public long bytes() {
        return (long) BYTES.getOpaque(this);
    }

    @Override
    public int maxOperationsSeen() {
        return (int) MAX_OPERATIONS.getOpaque(this);
    }

    @Override
    public long maxBytesSeen() {
        return (long) MAX_BYTES.getOpaque(this);
    }

    private static VarHandle handle(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(ConnectionWindow.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
