package io.sluice.engine.progress;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.jni.Epoll;
import io.sluice.jni.Errno;
import io.sluice.jni.EventDescriptor;
import io.sluice.jni.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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
 * that called it, and many small frames in one system call.
 *
 * <p>The kernel is not asked in every cycle. A descriptor that has just been heard of is likely to be ready again within
 * microseconds, and to read from it tells as well as the kernel does; while something is polled in this way, the kernel is
 * asked less and less often about the others, until one of them has something to say.
 */
public final class Poller implements EventLoop, PollerLoop.Owner {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);
    // few, so that what belongs to a connection is still in the near caches when its answers leave, at the cycle's end
    private static final int MAX_EVENTS = 8;
    private static final long WAKE_UP = -1;
    private static final int MAX_TASKS_A_CYCLE = 1024;
    // in a row, without a task
    private static final int MOST_LEFT_OVER_CYCLES = 100;
    private static final long STALL_REPORT_NANOS = 1_000_000_000L;
    // an idle poller cycles at least this often, so that its counters distinguish it from one that hangs
    private static final long LONGEST_PARK_NANOS = Duration.ofSeconds(30).toNanos();
    // a look at an idle socket costs as much as to ask the kernel about all: beyond two, asking is cheaper
    private static final int MOST_HOT = 2;
    // an answer from the same machine or rack comes within this time; later ones may as well wait for the kernel
    private static final long HOT_NANOS = 50_000;
    private static final long SHORTEST_ASK_PAUSE_NANOS = 500;
    private static final long LONGEST_ASK_PAUSE_NANOS = 20_000;
    // of a poller that parks at once
    private static final int MOST_CYCLES_UNASKED = 2;

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
    private final MemorySegment events;
    private final int epoll;
    private final int wakeUp;

    private @Nullable DescriptorWatch[] watches = new @Nullable DescriptorWatch[64];
    private int[] generations = new int[64];
    private final @Nullable DescriptorWatch[] hot = new @Nullable DescriptorWatch[MOST_HOT];
    private int hotCount;
    // when the kernel was asked last, and how long it is not asked from then on, while something else is polled
    private long askedAt;
    private long askPauseNanos;
    private int cyclesUnasked;
    private final List<Source> sources = new ArrayList<>();
    private final EndOfCycle endOfCycle = new EndOfCycle(this::run, this::report);
    private long now = System.nanoTime();
    private long batchTime = now;
    private boolean batchTimed;
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
        int madeEpoll = -1;
        int event = -1;
        try {
            stallCause = new StallCause(ThreadTimes.ofKernel(arena), stallNanos);
            events = arena.allocate((long) MAX_EVENTS * Epoll.RECORD_BYTES, Epoll.RECORD_BYTES);
            thread = new PollerThread(this, this::run, name);
            madeEpoll = checked(Epoll.create(), "create an epoll descriptor");
            event = checked(EventDescriptor.create(), "create an event descriptor");
            checked(Epoll.add(madeEpoll, event, Epoll.READABLE, WAKE_UP), "watch an event descriptor");
        } catch (RuntimeException | Error e) {
            closeIfOpen(event);
            closeIfOpen(madeEpoll);
            arena.close();
            throw e;
        }
        epoll = madeEpoll;
        wakeUp = event;
    }

    private static void closeIfOpen(int descriptor) {
        if (descriptor >= 0) {
            Sockets.close(descriptor);
        }
    }

    /** Gives back what a poller holds that was never started. */
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
     * Whether the thread goes on.
     *
     * @return false once it ends or was asked to
     */
    public boolean isRunning() {
        return state == State.RUNNING;
    }

    /**
     * Asks the thread to end, from any thread. Handed-over tasks still run.
     *
     * @return completes when the thread has given everything back
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
     * It is flushed no more. On the thread.
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
            throw new SluiceException(thread.getName() + " has ended and watches nothing any more");
        }
        if (descriptor >= watches.length) {
            int length = Integer.highestOneBit(descriptor) * 2;
            // both or none: there may be memory for one of them only
            @Nullable DescriptorWatch[] longerWatches = Arrays.copyOf(watches, length);
            generations = Arrays.copyOf(generations, length);
            watches = longerWatches;
        }
        // the kernel reuses descriptors at once; the generation tells a stale event from a fresh one
        int generation = ++generations[descriptor];
        DescriptorWatch watch = new DescriptorWatch(descriptor, generation, handler);
        watches[descriptor] = watch;
        int added = Epoll.add(epoll, descriptor, Epoll.READABLE, watch.data());
        if (added < 0) {
            watches[descriptor] = null;
        }
        checked(added, "watch a descriptor");
        return watch;
    }

    private void run() {
        try {
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
        if (workedOn(readHot() + askKernel())) {
            return;
        }
        if (idleStrategy.idle(now)) {
            park();
        } else {
            now = System.nanoTime();
            stallCause.cycleEnded(now);
        }
    }

    /** The rest of a duty cycle, after descriptors were heard of; false if it has found no work. */
    private boolean workedOn(int heard) {
        int work = heard;
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
            int ready = await(timeout);
            parked = false;
            now = System.nanoTime();
            cyclesUnasked = 0;
            workedOn(dispatch(ready));
        } else {
            parked = false;
            now = System.nanoTime();
        }
    }

    /** Reads from what is likely to be ready, without asking the kernel; returns from how many of them something came. */
    private int readHot() {
        int heard = 0;
        for (int i = hotCount - 1; i >= 0; i--) {
            DescriptorWatch watch = hot[i];
            if (watch == null || !watch.staysHot()) {
                cool(i);
                continue;
            }
            watch.heard = false;
            hear(watch, Epoll.READABLE);
            if (watch.heard) {
                heard++;
            }
        }
        return heard;
    }

    private void cool(int at) {
        DescriptorWatch watch = hot[at];
        if (watch != null) {
            watch.hot = false;
        }
        hotCount--;
        hot[at] = hot[hotCount];
        hot[hotCount] = null;
    }

    /** Asks the kernel what is ready, unless that was just done; returns how many descriptors were. */
    private int askKernel() {
        if (idleStrategy.parksAtOnce()) {
            // it asks when it parks, which is soon
            if (cyclesUnasked < MOST_CYCLES_UNASKED) {
                cyclesUnasked++;
                return 0;
            }
            cyclesUnasked = 0;
        } else if (hotCount > 0 || !sources.isEmpty()) {
            if (now - askedAt < askPauseNanos) {
                return 0;
            }
            askedAt = now;
        }
        return dispatch(await(0));
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

    private int await(long timeout) {
        int ready = Epoll.await(epoll, events.address(), MAX_EVENTS, timeout);
        if (ready < 0) {
            throw new SluiceException("waiting for descriptors failed: " + Errno.message(-ready));
        }
        return ready;
    }

    private int dispatch(int ready) {
        boolean news = false;
        for (int i = 0; i < ready; i++) {
            long at = (long) i * Epoll.RECORD_BYTES;
            int flags = events.get(ValueLayout.JAVA_INT, at + Epoll.RECORD_EVENTS_OFFSET);
            long data = events.get(ValueLayout.JAVA_LONG, at + Epoll.RECORD_DATA_OFFSET);
            if (data == WAKE_UP) {
                EventDescriptor.drain(wakeUp);
                continue;
            }
            int descriptor = (int) data;
            DescriptorWatch watch = descriptor >= 0 && descriptor < watches.length ? watches[descriptor] : null;
            if (watch == null || watch.generation != (int) (data >>> 32)) {
                continue;
            }
            // of a hot one the next cycle would have heard anyway
            news |= !watch.hot;
            hear(watch, flags);
        }
        askPauseNanos = news ? 0 : Math.clamp(askPauseNanos * 2, SHORTEST_ASK_PAUSE_NANOS, LONGEST_ASK_PAUSE_NANOS);
        return ready;
    }

    private void hear(DescriptorWatch watch, int flags) {
        beginBatch();
        boolean failed = (flags & (Epoll.ERROR | Epoll.HANGUP)) != 0;
        try {
            watch.handler.ready(failed || (flags & Epoll.READABLE) != 0, failed || (flags & Epoll.WRITABLE) != 0);
        } catch (Throwable e) {
            report(e);
        }
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
    private void report(Throwable e) {
        LOG.error("an unexpected error on {}", thread.getName(), e);
    }

    private void stalled(long took) {
        reportStall(took, stallCause.of(took, now) + stages.blame());
    }

    @Override
    public void reportStall(long took, String cause) {
        counters.add(PollerCounters.Counter.STALLS, 1);
        Observers told = observers;
        if (told != null) {
            told.pollerStalled(index, took);
        }
        if (now - lastStallReport >= STALL_REPORT_NANOS) {
            lastStallReport = now;
            LOG.warn("{} was held up for {} ms in one duty cycle: {}", thread.getName(), took / 1_000_000, cause);
        }
    }

    // the kernel reuses descriptors at once: without the lock a late signal could go into a stranger's socket
    private void signal() {
        synchronized (terminated) {
            if (state != State.TERMINATED) {
                EventDescriptor.signal(wakeUp);
            }
        }
    }

    private void terminate() {
        // while descriptors can still be watched: what was handed over may end what is under way
        runLeftOver();
        synchronized (terminated) {
            state = State.TERMINATED;
            Sockets.close(wakeUp);
            Sockets.close(epoll);
            arena.close();
        }
        runLeftOver();
        terminated.complete(null);
    }

    /** Runs leftover tasks after the end of the thread: the thread that hands a task over runs it, one at a time. */
    private void runLeftOver() {
        synchronized (terminated) {
            // what runs at the end of a cycle may hand over more; one that fails says each time that it has worked
            int cycles = 0;
            do {
                Runnable task;
                while ((task = tasks.poll()) != null) {
                    // each is a cycle of its own, so that what one cycle may do is not done for ever
                    now = System.nanoTime();
                    run(task);
                    cycles = 0;
                }
            } while (endOfCycle.run() > 0 && ++cycles < MOST_LEFT_OVER_CYCLES);
        }
    }

    private static int checked(int result, String what) {
        if (result < 0) {
            throw new SluiceException("cannot " + what + ": " + Errno.message(-result)
                    + (result == -Errno.EMFILE || result == -Errno.ENFILE
                            ? "; raise the limit of open files (ulimit -n)"
                            : ""));
        }
        return result;
    }

    private final class DescriptorWatch implements Watch {
        private final int descriptor;
        private final int generation;
        private final ReadinessHandler handler;
        private int interest = Epoll.READABLE;
        private boolean hot;
        // more was expected since the handler was called last, and when it was
        private boolean heard;
        private long heardAt;

        DescriptorWatch(int descriptor, int generation, ReadinessHandler handler) {
            this.descriptor = descriptor;
            this.generation = generation;
            this.handler = handler;
        }

        long data() {
            return ((long) generation << 32) | descriptor;
        }

        @Override
        public void interest(boolean readable, boolean writable) {
            int wanted = (readable ? Epoll.READABLE : 0) | (writable ? Epoll.WRITABLE : 0);
            if (wanted != interest && watches[descriptor] == this && state != State.TERMINATED) {
                interest = wanted;
                checked(Epoll.modify(epoll, descriptor, wanted, data()), "change a watch");
            }
        }

        @Override
        public void expectMore() {
            heard = true;
            heardAt = now;
            // a poller that parks at once learns of it from the kernel anyway
            if (!hot && hotCount < MOST_HOT && !idleStrategy.parksAtOnce() && isReadable()) {
                hot = true;
                Poller.this.hot[hotCount++] = this;
            }
        }

        boolean staysHot() {
            return now - heardAt < HOT_NANOS && isReadable();
        }

        /** Whether to call the handler because there may be something to read. */
        private boolean isReadable() {
            return watches[descriptor] == this && (interest & Epoll.READABLE) != 0;
        }

        @Override
        public void cancel() {
            if (watches[descriptor] == this) {
                watches[descriptor] = null;
                if (state != State.TERMINATED) {
                    Epoll.remove(epoll, descriptor);
                }
            }
        }
    }
}
