package io.sluice.directory;

import io.sluice.directory.store.DirectoryStore;
import io.sluice.directory.store.StoredValue;
import io.sluice.engine.SluiceException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** A store whose requests have a time-out and fail with the exceptions of this package. */
final class StoreAccess {
    private static final int MAX_ATTEMPTS = 8;
    private static final Backoff CONFLICTS = new Backoff(Duration.ofMillis(5), Duration.ofMillis(200));

    private final DirectoryStore store;
    private final DirectoryOptions options;
    private volatile boolean closed;

    StoreAccess(DirectoryStore store, DirectoryOptions options) {
        this.store = store;
        this.options = options;
    }

    DirectoryStore store() {
        return store;
    }

    DirectoryOptions options() {
        return options;
    }

    /** Empty if there is no such key. */
    Mono<byte[]> get(String key) {
        return bounded(store.get(key));
    }

    /** Empty if there is no such name. */
    Mono<EntryHead> head(String name) {
        return get(Keys.head(name)).map(bytes -> EntryHead.fromBytes(name, bytes));
    }

    Mono<List<StoredValue>> heads(String prefix) {
        return bounded(store.list(Keys.head(prefix)).collectList());
    }

    <T> Mono<T> bounded(Mono<T> request) {
        return Mono.defer(() -> closed ? Mono.<T>error(closedError()) : request)
                .timeout(options.requestTimeout())
                .onErrorMap(StoreAccess::isForeign, this::unavailable);
    }

    private static boolean isForeign(Throwable error) {
        return !(error instanceof SluiceException);
    }

    DirectoryUnavailableException unavailable(Throwable cause) {
        return cause instanceof DirectoryUnavailableException already
                ? already
                : new DirectoryUnavailableException(
                        cause instanceof TimeoutException
                                ? "the directory has not answered within " + options.requestTimeout()
                                : "the directory does not answer: " + cause,
                        cause);
    }

    /** Repeats a step while it is empty: the values that it read were replaced concurrently. */
    <T> Mono<T> attempts(String name, Supplier<Mono<T>> step) {
        return attempt(name, step, 1);
    }

    private <T> Mono<T> attempt(String name, Supplier<Mono<T>> step, int number) {
        if (number > MAX_ATTEMPTS) {
            return Mono.error(new DirectoryUnavailableException(
                    "the entry '" + name + "' was replaced " + MAX_ATTEMPTS + " times while it was in use"));
        }
        return step.get()
                .switchIfEmpty(Mono.defer(() ->
                        Mono.delay(CONFLICTS.after(number)).then(Mono.defer(() -> attempt(name, step, number + 1)))));
    }

    static DirectoryClosedException closedError() {
        return new DirectoryClosedException("this directory was closed; open another");
    }

    Mono<Void> close() {
        return Mono.defer(() -> {
            closed = true;
            return store.close()
                    .timeout(options.requestTimeout())
                    .onErrorMap(StoreAccess::isForeign, this::unavailable);
        });
    }
}
