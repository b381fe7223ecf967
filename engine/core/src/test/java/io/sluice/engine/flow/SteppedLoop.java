package io.sluice.engine.flow;

import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import java.util.ArrayDeque;
import java.util.function.LongSupplier;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;

/**
 * An event loop without a thread: what was handed over runs when a test says so, on the thread that says it. Any thread may
 * hand over; the rest is for one thread at a time.
 */
final class SteppedLoop implements EventLoop {
    private static final int FIRST_TASKS = 8;

    private final MpscUnboundedAtomicArrayQueue<Runnable> tasks = new MpscUnboundedAtomicArrayQueue<>(FIRST_TASKS);
    private final ArrayDeque<Deadline> armed = new ArrayDeque<>(FIRST_TASKS);
    private LongSupplier clock = System::nanoTime;
    private boolean batchTimed;
    private long batchTime;

    /** Whether something waits to be run. */
    boolean hasTask() {
        return !tasks.isEmpty();
    }

    /** Runs what was handed over first; false if there was nothing. */
    boolean runNext() {
        Runnable task = tasks.poll();
        if (task == null) {
            return false;
        }
        beginBatch();
        task.run();
        return true;
    }

    /** From now on the clock shows this time. */
    void time(long nanos) {
        clock = () -> nanos;
    }

    /** Whether a deadline is armed. */
    boolean hasDeadline() {
        return !armed.isEmpty();
    }

    /** The time of the deadline that was armed first has come. */
    void expireNext() {
        armed.removeFirst().expire();
    }

    @Override
    public void addSource(Source source) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void removeSource(Source source) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long now() {
        return 0;
    }

    @Override
    public void beginBatch() {
        batchTimed = false;
    }

    @Override
    public long batchTime() {
        if (!batchTimed) {
            batchTimed = true;
            batchTime = clock.getAsLong();
        }
        return batchTime;
    }

    @Override
    public void execute(Runnable task) {
        tasks.offer(task);
    }

    @Override
    public void arm(Deadline deadline, long at) {
        armed.remove(deadline);
        armed.addLast(deadline);
    }

    @Override
    public void disarm(Deadline deadline) {
        armed.remove(deadline);
    }

    @Override
    public void atEndOfCycle(Runnable task) {
        throw new UnsupportedOperationException("a flow does not ask for it");
    }

    @Override
    public Watch watch(int descriptor, ReadinessHandler handler) {
        throw new UnsupportedOperationException("a flow has no descriptor");
    }
}
