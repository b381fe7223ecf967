package io.sluice.samples.command;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Lets a command end in order on SIGINT and SIGTERM: the virtual machine waits until the command has ended, a bounded
 * time. The exit status is then the virtual machine's, 130 or 143.
 */
final class Termination implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Termination.class);

    /** Longer than an engine takes to close, also with dead peers. */
    private static final Duration PATIENCE = Duration.ofSeconds(25);

    // no sink: a command that transfers nothing starts without Reactor
    private final CompletableFuture<Void> requested = new CompletableFuture<>();
    private final CountDownLatch finished = new CountDownLatch(1);
    private final Thread hook = new Thread(this::terminate, "termination");
    private volatile boolean asked;
    private volatile Duration more = Duration.ZERO;

    private Termination() {}

    static Termination handle() {
        Termination termination = new Termination();
        Runtime.getRuntime().addShutdownHook(termination.hook);
        return termination;
    }

    Mono<Void> requested() {
        return Mono.fromFuture(requested, true);
    }

    boolean isRequested() {
        return asked;
    }

    /** The command takes as much longer to end; to be said before its end is requested. */
    void waitLonger(Duration time) {
        more = time;
    }

    private void terminate() {
        asked = true;
        requested.complete(null);
        try {
            long seconds = PATIENCE.plus(more).toSeconds();
            if (!finished.await(seconds, TimeUnit.SECONDS)) {
                LOG.warn("not all could be closed in order within {} s", seconds);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        finished.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException shuttingDown) {
            LOG.trace("closed while shutting down", shuttingDown);
        }
    }
}
