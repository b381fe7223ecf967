package io.sluice.engine.control;

import io.sluice.engine.progress.Poller;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The work that a closing engine waits for. Any thread. */
public final class UnfinishedWork {
    private final Set<PendingSocket> all = ConcurrentHashMap.newKeySet();
    private volatile @Nullable CompletableFuture<Void> awaited;

    public void begun(PendingSocket one) {
        all.add(one);
        if (awaited != null) {
            one.poller().execute(one::abort);
        }
    }

    public void finished(PendingSocket one) {
        all.remove(one);
        CompletableFuture<Void> waiting = awaited;
        if (waiting != null && all.isEmpty()) {
            waiting.complete(null);
        }
    }

    /** Ends the work in progress on a poller; on its thread. */
    public void abort(Poller poller) {
        all.stream().filter(one -> one.poller().equals(poller)).forEach(PendingSocket::abort);
    }

    /** Aborts all work, and work that begins later at once. */
    public CompletableFuture<Void> abortAll() {
        CompletableFuture<Void> waiting = new CompletableFuture<>();
        awaited = waiting;
        all.forEach(one -> one.poller().execute(one::abort));
        if (all.isEmpty()) {
            waiting.complete(null);
        }
        return waiting;
    }
}
