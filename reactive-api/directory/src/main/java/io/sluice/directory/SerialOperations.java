package io.sluice.directory;

import java.util.concurrent.atomic.AtomicReference;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Runs operations serially, in the order of their subscriptions. */
final class SerialOperations {
    private final AtomicReference<Mono<Void>> last = new AtomicReference<>(Mono.empty());

    <T> Mono<T> run(Mono<T> operation) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> done = Sinks.empty();
            Mono<Void> before = last.getAndSet(done.asMono());
            // a waiting operation that is cancelled must not let the next one overtake those before it
            return before.then(operation)
                    .doFinally(end -> before.subscribe(ignored -> {}, error -> {}, done::tryEmitEmpty));
        });
    }
}
