package io.sluice.engine.progress;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.jni.ThreadSchedule;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that drives connections. One duty cycle: handle ready descriptors, poll the sources, run handed-over tasks,
 * expire deadlines, flush the work that transports have gathered, then run the tasks of the cycle's end. Received data
 * is handled before handed-over tasks run: so a transfer that a callback starts leaves in the cycle of the completion
 * that called it, and many small frames leave in one system call.
 */
public final class Poller implements EventLoop, PollerLoop.Owner {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);
    private static final int MAX_TASKS_A_CYCLE = 1024;
    // in a row, without a task
    private static final int MOST_LEFT_OVER_CYCLES = 100;
    private static final long STALL_REPORT_NANOS = 1_000_000_000L;
    // an idle poller cycles at least this often, so that its counters distinguish it from one that hangs
    private static final long LONGEST_PARK_NANOS = Duration.ofSeconds(30).toNanos();

    private enum State {
        RUNNING,
        STOPPING,
        TERMINATED
    }

    private final MpscUnboundedAtomicArrayQueue<Runnable> tasks = new MpscUnboundedAtomicArrayQueue<>(1024);
    private final DeadlineQueue deadlines = new DeadlineQueue();
    private final PollerCounters counters = new PollerCounters();
    private final int index;
    private final @Nullable Observers observers;
    private final PollerThread thread;
    private final IdleStrategy idleStrategy;
    private final long stallNanos;
    private final StallCause stallCause;
    private final PollerLoop stages;
    private final Consumer<Poller> onFailure;
    private final CompletableFuture<Void> terminated = new CompletableFuture<>();
    private final Arena arena = Arena.ofShared();
    private final WatchedDescriptors descriptors;

    private final List<Source> sources = new ArrayList<>();
    private final EndOfCycle endOfCycle = new EndOfCycle(this::run, this::report);
    private long now = System.nanoTime();
    private long batchTime = now;
    private boolean batchTimed;
    private long sharedAt = now;
    private int counted;
    private int sharers = 1;
    private long lastStallReport = now - STALL_REPORT_NANOS;
    private volatile boolean parked;
    private volatile State state = State.RUNNING;

    /**
     * Makes a poller; {@link #start()} starts it.
     *
     * @param name the thread's name
     * @param index its number in the engine, from 0
     * @param options the engine's settings
     * @param onFailure called on the thread if it has to end because of an error
     * @throws SluiceException if the kernel gives no descriptors; nothing stays open then, nor after any other error
     */
    public Poller(String name, int index, EngineOptions options, Consumer<Poller> onFailure) {
        this.onFailure = onFailure;
        this.index = index;
        observers = Observers.of(options);
        idleStrategy =
                new IdleStrategy(options.spin().toNanos(), options.yield().toNanos());
        stallNanos = options.stallThreshold().toNanos();
        stages = new PollerLoop(this, this, stallNanos);
        try {
            stallCause = new StallCause(ThreadTimes.ofKernel(arena), StallCause.loadedClasses(), stallNanos);
            thread = new PollerThread(this, this::run, name);
            descriptors = new WatchedDescriptors(this, idleStrategy.parksAtOnce(), arena);
        } catch (RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    /** Releases what a poller that was never started holds. */
    public void discard() {
        terminate();
    }

    /** Starts the thread. */
    public void start() {
        thread.start();
    }

    /**
     * Which poller it is.
     *
     * @return its number in the engine, from 0
     */
    public int index() {
        return index;
    }

    /**
     * The poller's counters.
     *
     * @return the counters, for any thread to read
     */
    public PollerCounters counters() {
        return counters;
    }

    /**
     * The poller as stages above the engine see it.
     *
     * @return the loop, for any thread
     */
    public PollerLoop stages() {
        return stages;
    }

    /**
     * Whether the calling thread is this poller's.
     *
     * @return true on the poller's thread
     */
    @Override
    public boolean inLoop() {
        return Thread.currentThread() == thread;
    }

    /**
     * Whether the thread runs.
     *
     * @return false once it was asked to end, or has failed
     */
    public boolean isRunning() {
        return state == State.RUNNING;
    }

    boolean isTerminated() {
        return state == State.TERMINATED;
    }

    /**
     * Asks the thread to end, from any thread. Handed-over tasks still run.
     *
     * @return completes when the thread has ended and released its descriptors
     */
    public CompletableFuture<Void> stop() {
        execute(() -> {
            if (state == State.RUNNING) {
                state = State.STOPPING;
            }
        });
        return terminated;
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public void countSharer() {
        if (sharedAt != now) {
            sharedAt = now;
            sharers = Math.max(1, counted);
            counted = 0;
        }
        counted++;
    }

    @Override
    public int sharers() {
        return sharers;
    }

    @Override
    public void beginBatch() {
        batchTimed = false;
    }

    @Override
    public long batchTime() {
        if (!batchTimed) {
            batchTimed = true;
            batchTime = System.nanoTime();
        }
        return batchTime;
    }

    @Override
    public void execute(Runnable task) {
        tasks.offer(task);
        // the poller sets `parked` before it looks at the queue for the last time, so one of the two sees the other
        if (parked) {
            signal();
        }
        if (state == State.TERMINATED) {
            runLeftOver();
        }
    }

    @Override
    public void addSource(Source source) {
        sources.add(source);
    }

    @Override
    public void removeSource(Source source) {
        sources.remove(source);
    }

    @Override
    public void atEndOfCycle(Runnable task) {
        endOfCycle.add(task);
    }

    /**
     * Adds a transport's loop, which is flushed in each cycle from now on. On the thread.
     *
     * @param loop opened on this poller
     */
    public void add(TransportLoop loop) {
        endOfCycle.add(loop);
    }

    /**
     * Removes a transport's loop. On the thread.
     *
     * @param loop added before
     */
    public void remove(TransportLoop loop) {
        endOfCycle.remove(loop);
    }

    /** Runs a task as {@link #atEndOfCycle}, for callbacks; at once if no cycle will end any more. On the thread. */
    void atEndOfCycleOrNow(Runnable task) {
        if (state == State.TERMINATED) {
            task.run();
        } else {
            endOfCycle.add(task);
            // callbacks wake other threads there
            idleStrategy.handedOver();
        }
    }

    @Override
    public void arm(Deadline deadline, long at) {
        deadlines.arm(deadline, at);
    }

    @Override
    public void disarm(Deadline deadline) {
        deadlines.disarm(deadline);
    }

    @Override
    public Watch watch(int descriptor, ReadinessHandler handler) {
        if (state == State.TERMINATED) {
            throw new SluiceException(thread.getName() + " has ended and can watch no descriptor");
        }
        return descriptors.watch(descriptor, handler);
    }

    private void run() {
        try {
            // a park of 20 microseconds is to take 20; without it they take longer
            ThreadSchedule.exactTimers();
            now = System.nanoTime();
            stallCause.sample(now);
            while (state == State.RUNNING) {
                cycle();
            }
        } catch (Throwable e) {
            state = State.STOPPING;
            LOG.error("{} has failed; its connections are lost", thread.getName(), e);
            run(() -> onFailure.accept(this));
        } finally {
            terminate();
        }
    }

    private void cycle() {
        if (workedOn(descriptors.readHot() + descriptors.askKernel(!sources.isEmpty()))) {
            return;
        }
        if (idleStrategy.idle(now)) {
            park();
        } else {
            now = System.nanoTime();
            stallCause.cycleEnded(now);
        }
    }

    /** The rest of a duty cycle, after {@code ready} descriptors were handled; false if it has found no work. */
    private boolean workedOn(int ready) {
        int work = ready;
        work += pollSources();
        work += runTasks();
        work += expireDeadlines();
        work += endOfCycle.run();
        if (work == 0) {
            counters.add(PollerCounters.Counter.EMPTY_POLLS, 1);
            return false;
        }
        counters.add(PollerCounters.Counter.BUSY_POLLS, 1);
        idleStrategy.worked();
        long began = now;
        now = System.nanoTime();
        long took = now - began;
        counters.add(PollerCounters.Counter.BUSY_NANOS, took);
        if (took > stallNanos) {
            stalled(took);
        } else {
            stallCause.cycleEnded(now);
        }
        return true;
    }

    private void park() {
        parked = true;
        if (tasks.isEmpty() && armSources()) {
            long timeout = LONGEST_PARK_NANOS;
            if (!deadlines.isEmpty()) {
                timeout = Math.clamp(deadlines.earliest() - System.nanoTime(), 0, LONGEST_PARK_NANOS);
            }
            int ready = descriptors.await(timeout);
            parked = false;
            now = System.nanoTime();
            workedOn(descriptors.dispatch(ready));
        } else {
            parked = false;
            now = System.nanoTime();
        }
    }

    private int pollSources() {
        int work = 0;
        // by index: a source may leave, or another come, while one is polled
        for (int i = sources.size() - 1; i >= 0; i--) {
            if (i < sources.size()) {
                work += pollSource(sources.get(i));
            }
        }
        return work;
    }

    private int pollSource(Source source) {
        beginBatch();
        try {
            return source.poll();
        } catch (Throwable e) {
            report(e);
            return 1;
        }
    }

    /** False if one of them may have work already. */
    private boolean armSources() {
        for (int i = 0; i < sources.size(); i++) {
            if (!arm(sources.get(i))) {
                return false;
            }
        }
        return true;
    }

    private boolean arm(Source source) {
        try {
            return source.arm();
        } catch (Throwable e) {
            report(e);
            return false;
        }
    }

    private int runTasks() {
        // not those that these hand over in turn: a chain of them must not keep the cycle from ending
        int due = Math.min(tasks.size(), MAX_TASKS_A_CYCLE);
        int count = 0;
        while (count < due) {
            Runnable task = tasks.relaxedPoll();
            if (task == null) {
                break;
            }
            run(task);
            count++;
        }
        return count;
    }

    private int expireDeadlines() {
        int count = 0;
        Deadline deadline;
        while ((deadline = deadlines.pollExpired(now)) != null) {
            beginBatch();
            try {
                deadline.expire();
            } catch (Throwable e) {
                report(e);
            }
            count++;
        }
        return count;
    }

    private void run(Runnable task) {
        beginBatch();
        try {
            task.run();
        } catch (Throwable e) {
            report(e);
        }
    }

    // an error in one connection's code must not end the service of all others
    void report(Throwable e) {
        LOG.error("an unexpected error on {}", thread.getName(), e);
    }

    private void stalled(long took) {
        reportStall(took, stallCause.of(took, now) + stages.blame());
    }

    @Override
    public void reportStall(long took, String cause) {
        counters.add(PollerCounters.Counter.STALLS, 1);
        Observers notified = observers;
        if (notified != null) {
            notified.pollerStalled(index, took);
        }
        if (now - lastStallReport >= STALL_REPORT_NANOS) {
            lastStallReport = now;
            LOG.warn("{} was held up for {} ms in one duty cycle: {}", thread.getName(), took / 1_000_000, cause);
        }
    }

    // the kernel reuses descriptors at once: without the lock a late signal could go to another socket
    private void signal() {
        synchronized (terminated) {
            if (state != State.TERMINATED) {
                descriptors.wake();
            }
        }
    }

    private void terminate() {
        // while descriptors can still be watched: tasks that were handed over may end transfers in flight
        runLeftOver();
        synchronized (terminated) {
            state = State.TERMINATED;
            descriptors.close();
            arena.close();
        }
        runLeftOver();
        terminated.complete(null);
    }

    /** Runs leftover tasks after the end of the thread: the thread that hands a task over runs it, one at a time. */
    private void runLeftOver() {
        synchronized (terminated) {
            // tasks of a cycle's end may hand over more; a transport's loop that fails counts as work each time
            int cycles = 0;
            do {
                Runnable task;
                while ((task = tasks.poll()) != null) {
                    // each is a cycle of its own, so that the limits of a cycle apply
                    now = System.nanoTime();
                    run(task);
                    cycles = 0;
                }
            } while (endOfCycle.run() > 0 && ++cycles < MOST_LEFT_OVER_CYCLES);
        }
    }
}
