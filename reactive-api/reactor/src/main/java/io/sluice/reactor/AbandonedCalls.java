package io.sluice.reactor;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The calls of a team or an expert buffer that go on though their subscribers have cancelled. */
final class AbandonedCalls {
    private final Set<CompletableFuture<Void>> all = ConcurrentHashMap.newKeySet();

    CompletableFuture<Void> add() {
        CompletableFuture<Void> end = new CompletableFuture<>();
        all.add(end);
        return end;
    }

    /** May be called twice. */
    void ended(CompletableFuture<Void> which) {
        all.remove(which);
        which.complete(null);
    }

    /** Completes when those that are there now have ended. */
    CompletableFuture<Void> ended() {
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
    }
}
