package io.sluice.engine.progress;

import io.sluice.engine.transport.TransportLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The tasks at the end of a poller's duty cycle. Confined to the poller. */
final class EndOfCycle {
    private final Consumer<Runnable> running;
    private final Consumer<Throwable> failures;
    private final List<TransportLoop> transportLoops = new ArrayList<>();
    private ArrayList<Runnable> tasks = new ArrayList<>();
    private ArrayList<Runnable> spare = new ArrayList<>();

    /**
     * Creates an empty list.
     *
     * @param running runs a task, and never throws
     * @param failures receives failures of transports' loops
     */
    EndOfCycle(Consumer<Runnable> running, Consumer<Throwable> failures) {
        this.running = running;
        this.failures = failures;
    }

    void add(Runnable task) {
        tasks.add(task);
    }

    void add(TransportLoop loop) {
        transportLoops.add(loop);
    }

    void remove(TransportLoop loop) {
        transportLoops.remove(loop);
    }

    /**
     * Makes the transports post the requests that they have gathered, and then runs the tasks, which may wake other
     * threads: the cycle's requests have been sent by then. Returns how much work there was.
     */
    int run() {
        return flush() + runTasks();
    }

    private int flush() {
        int work = 0;
        // by index: an iterator would be garbage in every cycle
        for (int i = 0; i < transportLoops.size(); i++) {
            work += flush(transportLoops.get(i));
        }
        return work;
    }

    private int flush(TransportLoop loop) {
        try {
            return loop.flush();
        } catch (Throwable e) {
            failures.accept(e);
            return 1;
        }
    }

    private int runTasks() {
        ArrayList<Runnable> due = tasks;
        if (due.isEmpty()) {
            return 0;
        }
        tasks = spare;
        spare = due;
        for (int i = 0; i < due.size(); i++) {
            running.accept(due.get(i));
        }
        int count = due.size();
        due.clear();
        return count;
    }
}
