package io.sluice.engine.transport.reordering;

import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** A loop whose duty cycles and whose time the test drives by hand. It finds every watched socket ready. */
final class ManualLoop implements EventLoop {
    private final List<ManualWatch> watches = new ArrayList<>();
    private final List<Deadline> armed = new ArrayList<>();
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private List<Runnable> endOfCycle = new ArrayList<>();
    private long now = 1_000_000_000;

    /** One duty cycle. */
    void cycle() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        for (ManualWatch watch : List.copyOf(watches)) {
            if (watches.contains(watch)) {
                watch.handler.ready(watch.readable, watch.writable);
            }
        }
        for (Deadline deadline : List.copyOf(armed)) {
            if (deadline.at() - now <= 0) {
                disarm(deadline);
                deadline.expire();
            }
        }
        List<Runnable> due = endOfCycle;
        endOfCycle = new ArrayList<>();
        due.forEach(Runnable::run);
    }

    /** Lets time pass in which no cycle runs. */
    void advance(long nanos) {
        now += nanos;
    }

    /** Whether a handler asks to be called for data. */
    boolean isReading() {
        return watches.stream().anyMatch(watch -> watch.readable);
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
        return now;
    }

    @Override
    public Watch watch(int descriptor, ReadinessHandler handler) {
        ManualWatch watch = new ManualWatch(handler);
        watches.add(watch);
        return watch;
    }

    @Override
    public void atEndOfCycle(Runnable task) {
        endOfCycle.add(task);
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    @Override
    public void arm(Deadline deadline, long at) {
        armed.remove(deadline);
        armed.add(deadline);
        deadline.placed(at, 0);
    }

    @Override
    public void disarm(Deadline deadline) {
        armed.remove(deadline);
        deadline.placed(deadline.at(), Deadline.NOT_ARMED);
    }

    private final class ManualWatch implements Watch {
        private final ReadinessHandler handler;
        private boolean readable = true;
        private boolean writable;

        ManualWatch(ReadinessHandler handler) {
            this.handler = handler;
        }

        @Override
        public void interest(boolean wantsReadable, boolean wantsWritable) {
            readable = wantsReadable;
            writable = wantsWritable;
        }

        @Override
        public void cancel() {
            watches.remove(this);
        }
    }
}
