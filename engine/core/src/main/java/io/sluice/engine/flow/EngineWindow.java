package io.sluice.engine.flow;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The credits that all connections of an engine share. Any thread. */
@SuppressWarnings("ReferenceEquality") // a waiter is its own identity
public final class EngineWindow extends CreditedWindow {
    private static final VarHandle WAITERS;

    static {
        try {
            WAITERS = MethodHandles.lookup().findVarHandle(EngineWindow.class, "waiters", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // The connections that found no credit, first come, first served. A waiter for bytes holds an operation credit for
    // which others wait: in one queue they would wait for each other.
    private final ConcurrentLinkedQueue<CreditWaiter> waitingForOperations = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<CreditWaiter> waitingForBytes = new ConcurrentLinkedQueue<>();
    // at least the number in both queues: as long as it is 0, which is nearly always, no queue is looked at
    private volatile int waiters;

    /**
     * Creates a window whose credits are all free.
     *
     * @param operationLimit the most operations, up to 2,097,152
     * @param byteLimit the most bytes, up to 1 TiB
     */
    public EngineWindow(int operationLimit, long byteLimit) {
        super(new Credits(operationLimit, byteLimit));
    }

    boolean tryAcquireOperation(CreditWaiter waiter) {
        return tryAcquire(waiter, 1, 0);
    }

    boolean tryAcquireBytes(CreditWaiter waiter, long count) {
        return tryAcquire(waiter, 0, count);
    }

    /** Takes both kinds at once, or none; waiters for a kind go first only if that kind is asked for. */
    boolean tryAcquire(CreditWaiter waiter, int operations, long bytes) {
        if (waiters != 0
                && ((operations != 0 && othersGoFirst(waitingForOperations, waiter))
                        || (bytes != 0 && othersGoFirst(waitingForBytes, waiter)))) {
            return false;
        }
        long inFlight = credits.tryTake(operations, bytes);
        if (inFlight == Credits.REFUSED) {
            return false;
        }
        credits.seen(inFlight);
        return true;
    }

    @Override
    void release(int operations, long bytes) {
        credits.giveBack(operations, bytes);
        // after that: one that is not counted yet finds the credits when it tries again
        if (waiters == 0) {
            return;
        }
        if (operations != 0) {
            wakeFirst(waitingForOperations);
        }
        if (bytes != 0) {
            wakeFirst(waitingForBytes);
        }
    }

    private static boolean othersGoFirst(ConcurrentLinkedQueue<CreditWaiter> waiting, CreditWaiter waiter) {
        CreditWaiter first = waiting.peek();
        return first != null && first != waiter;
    }

    /**
     * Queues a waiter. It is called when it is first and credits are released. It must try again after this call, as
     * credits may just have been released.
     */
    void awaitOperation(CreditWaiter waiter) {
        add(waitingForOperations, waiter);
    }

    /** As {@link #awaitOperation}, for bytes. */
    void awaitBytes(CreditWaiter waiter) {
        add(waitingForBytes, waiter);
    }

    /** Removes a waiter that has its credits or no longer wants them. */
    void leaveOperations(CreditWaiter waiter) {
        remove(waitingForOperations, waiter);
    }

    /** As {@link #leaveOperations}, for bytes. */
    void leaveBytes(CreditWaiter waiter) {
        remove(waitingForBytes, waiter);
    }

    private void add(ConcurrentLinkedQueue<CreditWaiter> waiting, CreditWaiter waiter) {
        WAITERS.getAndAdd(this, 1);
        waiting.add(waiter);
    }

    private void remove(ConcurrentLinkedQueue<CreditWaiter> waiting, CreditWaiter waiter) {
        if (waiting.remove(waiter)) {
            WAITERS.getAndAdd(this, -1);
        }
        wakeFirst(waiting);
    }

    private static void wakeFirst(ConcurrentLinkedQueue<CreditWaiter> waiting) {
        CreditWaiter first = waiting.peek();
        if (first != null) {
            first.creditsReturned();
        }
    }
}
