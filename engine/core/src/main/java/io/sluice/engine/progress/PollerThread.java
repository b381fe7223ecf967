package io.sluice.engine.progress;

/** The type that distinguishes a poller from other threads. */
public final class PollerThread extends Thread {
    private final Poller poller;

    PollerThread(Poller poller, Runnable duty, String name) {
        super(duty, name);
        this.poller = poller;
        setDaemon(true);
    }

    /**
     * Runs a task at the end of the present duty cycle. For this thread itself.
     *
     * @param task must not block
     */
    public void atEndOfCycle(Runnable task) {
        poller.atEndOfCycleOrNow(task);
    }
}
