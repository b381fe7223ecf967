package io.sluice.engine.flow;

import io.sluice.engine.InFlightWindow;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The credits that all connections of an engine share. Any thread. */
@SuppressWarnings("ReferenceEquality") // a flow is its own identity
public final class EngineWindow implements InFlightWindow {
    private final Credits credits;
    // The connections that found no credit, first come, first served. Who waits for bytes holds an operation credit,
    // which others wait for: in one queue each would wait for the other.
    private final ConcurrentLinkedQueue<ConnectionFlow> waitingForOperations = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<ConnectionFlow> waitingForBytes = new ConcurrentLinkedQueue<>();

    /**
     * All credits free.
     *
     * @param operationLimit the most operations, up to 2,097,152
     * @param byteLimit the most bytes, up to 1 TiB
     */
    public EngineWindow(int operationLimit, long byteLimit) {
        this.credits = new Credits(operationLimit, byteLimit);
    }

    boolean tryAcquireOperation(ConnectionFlow flow) {
        return tryAcquire(flow, 1, 0);
    }

    boolean tryAcquireBytes(ConnectionFlow flow, long count) {
        return tryAcquire(flow, 0, count);
    }

    /** Takes both kinds at once, or none; of a kind that is not asked for, nobody goes first. */
    boolean tryAcquire(ConnectionFlow flow, int operations, long bytes) {
        if ((operations != 0 && othersGoFirst(waitingForOperations, flow))
                || (bytes != 0 && othersGoFirst(waitingForBytes, flow))) {
            return false;
        }
        long inFlight = credits.tryTake(operations, bytes);
        if (inFlight == Credits.REFUSED) {
            return false;
        }
        credits.seen(inFlight);
        return true;
    }

    void releaseOperation() {
        release(1, 0);
    }

    void releaseBytes(long count) {
        release(0, count);
    }

    void release(int operations, long bytes) {
        credits.giveBack(operations, bytes);
        if (operations != 0) {
            wakeFirst(waitingForOperations);
        }
        if (bytes != 0) {
            wakeFirst(waitingForBytes);
        }
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
