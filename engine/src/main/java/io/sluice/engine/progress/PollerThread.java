package io.sluice.engine.progress;

/** The type by which a poller is told from other threads. */
public final class PollerThread extends Thread {
    PollerThread(Runnable duty, String name) {
        super(duty, name);
        setDaemon(true);
    }
}
