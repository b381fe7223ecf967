package io.sluice.samples.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A process that this one has started, which ends when its standard input does. Used by one thread. */
final class OwnedProcess implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OwnedProcess.class);
    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration DEATH = Duration.ofSeconds(6);
    private static final Duration END_BY_SIGNAL = Duration.ofSeconds(2);
    private static final long POLL_MILLIS = 10;

    private final String name;
    private final Process process;
    private final Duration end;
    private boolean asked;
    private long askedNanos;

    /**
     * Owns a process.
     *
     * @param process its standard input is a pipe from this process
     * @param end how long it may take to end by itself once it has been asked to
     */
    OwnedProcess(String name, Process process, Duration end) {
        this.name = name;
        this.process = process;
        this.end = end;
    }

    /**
     * Waits until it has written a file that says that it is ready.
     *
     * @param said where its messages are, for a failure
     * @throws CommandFailure if it ends before, or takes too long, or this process is to end
     */
    void awaitReady(Path file, String said, Termination termination) {
        long deadline = System.nanoTime() + START.toNanos();
        while (!Files.exists(file)) {
            if (termination.isRequested()) {
                throw CommandFailure.failed("interrupted before " + name + " was ready");
            }
            if (hasEnded(POLL_MILLIS)) {
                throw CommandFailure.failed(
                        name + " ended with status " + process.exitValue() + " before it was ready; " + said);
            }
            if (System.nanoTime() - deadline > 0) {
                throw CommandFailure.failed(name + " was not ready within " + START.toSeconds() + " s; " + said);
            }
        }
    }

    boolean hasEnded(long millis) {
        try {
            return process.waitFor(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroy();
            throw CommandFailure.failed("interrupted while waiting for another process");
        }
    }

    int status() {
        return process.exitValue();
    }

    /** Kills it (SIGKILL), and waits until it is gone. */
    void kill() {
        process.destroyForcibly();
        if (!hasEnded(DEATH.toMillis())) {
            throw CommandFailure.failed(name + ", process " + process.pid() + ", cannot be killed");
        }
    }

    /** Ends its standard input, by which it ends by itself, and does not wait for that. */
    void askToEnd() {
        if (!asked) {
            asked = true;
            askedNanos = System.nanoTime();
        }
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException("a pipe can always be closed", e);
        }
    }

    /** Ends it, by force if it does not end by itself. */
    @Override
    public void close() {
        askToEnd();
        // Of several that were asked at once, none adds its time to that of the others.
        Duration left = end.minusNanos(System.nanoTime() - askedNanos);
        if (hasEnded(Math.max(0, left.toMillis()))) {
            return;
        }
        LOG.warn("{}, process {}, does not end by itself; ending it", name, process.pid());
        process.destroy();
        if (!hasEnded(END_BY_SIGNAL.toMillis())) {
            process.destroyForcibly();
        }
    }
}
