package io.sluice.engine.contract;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferOptions;
import java.util.concurrent.CompletableFuture;

/**
 * Acts on a large write at a moment at which some of it is posted, where no target can be kept from taking it: the poller
 * copies only so much in a turn, and an adapter takes milliseconds for all of it.
 */
final class WhilePosted {
    /** More than a poller copies in two turns, so that it handles the action before the last one. */
    static final long BYTES = 48 << 20;

    /** The most rounds: an adapter may be faster, but not in so many rounds. */
    static final int MOST_ROUNDS = 50;

    // the write may have come and gone while this thread had no processor
    private static final long MOST_WATCHED_NANOS = 50_000_000;

    // more than a calling thread carries out by itself
    private static final long BEFORE_BYTES = 512 << 10;

    private WhilePosted() {}

    /**
     * Starts the large write and acts while it is posted. Where pollers copy, it follows a small one, and the action is taken
     * at that one's end; both are handed over by the poller itself, so that it posts them together. An adapter, which may
     * complete both at once, is watched from the calling thread.
     *
     * @param source the small write's, of the initiator
     * @param remote the small write's
     * @param start starts the large one
     * @return the action is over
     */
    static CompletableFuture<Void> act(
            TransportUnderTest transport,
            Connection connection,
            MemoryRegion source,
            RemoteRegion remote,
            Runnable start,
            Runnable action) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        if (transport.locksMemory()) {
            start.run();
            long end = System.nanoTime() + MOST_WATCHED_NANOS;
            while (connection.window().bytes() < BYTES / 2 && System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            action.run();
            over.complete(null);
            return over;
        }
        write(connection, source, remote, over, () -> {
            write(connection, source, remote, over, () -> {
                action.run();
                over.complete(null);
            });
            start.run();
        });
        return over;
    }

    private static void write(
            Connection connection,
            MemoryRegion source,
            RemoteRegion remote,
            CompletableFuture<Void> over,
            Runnable behind) {
        connection.write(source, 0, remote, 0, BEFORE_BYTES, TransferOptions.defaults(), (transfer, error) -> {
            try {
                if (error != null) {
                    throw error;
                }
                behind.run();
            } catch (RuntimeException | Error e) {
                over.completeExceptionally(e);
            }
        });
    }
}
