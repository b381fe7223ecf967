package io.sluice.reactor;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.blockhound.BlockHound;
import reactor.blockhound.BlockingOperationError;
import reactor.core.scheduler.Schedulers;

/**
 * Fails a test in which a thread blocked that must not. The error is thrown in that thread, too; but an engine that survives
 * what its callbacks throw would hide it from the test.
 */
final class NoBlockingOnPollers implements BeforeAllCallback, AfterEachCallback {
    private static final Queue<BlockingOperationError> SEEN = new ConcurrentLinkedQueue<>();
    private static final AtomicBoolean INSTALLED = new AtomicBoolean();

    @Override
    public void beforeAll(ExtensionContext context) {
        if (INSTALLED.compareAndSet(false, true)) {
            // A worker that waits for its queue while BlockHound redefines the queue's classes may die of it, and the
            // tasks of its scheduler then wait for ever: those that exist are given up, and new ones begin afterwards.
            Schedulers.shutdownNow();
        }
        // Once for the JVM's life. It finds by itself which threads are pollers.
        BlockHound.install(builder -> builder.blockingMethodCallback(method -> {
            BlockingOperationError error = new BlockingOperationError(method);
            SEEN.add(error);
            throw error;
        }));
        // BlockHound stays for the JVM's life: what other test classes have brought about is not this one's
        SEEN.clear();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        BlockingOperationError first = SEEN.poll();
        SEEN.clear();
        if (first != null) {
            throw new AssertionError("a thread that must not block did: " + first.getMessage(), first);
        }
    }

    /** Takes out what the test has brought about on purpose. */
    static BlockingOperationError expected() {
        return SEEN.poll();
    }
}
