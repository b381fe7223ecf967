package io.sluice.directory.contract;

import io.sluice.directory.store.DirectoryStore;
import io.sluice.directory.store.InProcessStore;
import io.sluice.directory.store.StoreLease;
import io.sluice.directory.store.StoredValue;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A way to a store that can be cut: then nothing is answered. The store behind it can be replaced by an empty one. */
final class SeverableStore implements DirectoryStore {
    /** How many bytes were put under each key, by whomever; no two tests have a name in common. */
    private static final Map<String, Integer> PUT = new ConcurrentHashMap<>();

    private final AtomicReference<InProcessStore> backing;
    private final BooleanSupplier isSevered;

    SeverableStore(AtomicReference<InProcessStore> backing, BooleanSupplier isSevered) {
        this.backing = backing;
        this.isSevered = isSevered;
    }

    /** Keys and values of a name. */
    static long bytesPut(String name) {
        return PUT.entrySet().stream()
                .filter(put -> put.getKey().contains(name))
                .mapToLong(put -> put.getKey().length() + put.getValue())
                .sum();
    }

    private <T> Mono<T> unlessSevered(Mono<T> request) {
        return Mono.defer(() -> isSevered.getAsBoolean() ? Mono.never() : request);
    }

    @Override
    public Mono<StoreLease> grant(Duration timeToLive) {
        return unlessSevered(Mono.defer(() -> {
            InProcessStore store = backing.get();
            return store.grant(timeToLive).map(lease -> new Lease(store, lease));
        }));
    }

    @Override
    public Mono<byte[]> get(String key) {
        return unlessSevered(Mono.defer(() -> backing.get().get(key)));
    }

    @Override
    public Flux<StoredValue> list(String prefix) {
        return Flux.defer(
                () -> isSevered.getAsBoolean() ? Flux.never() : backing.get().list(prefix));
    }

    @Override
    public Flux<String> changes(String prefix) {
        return Flux.defer(() ->
                        isSevered.getAsBoolean() ? Flux.never() : backing.get().changes(prefix))
                .filter(key -> !isSevered.getAsBoolean());
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }

    private final class Lease implements StoreLease {
        private final InProcessStore store;
        private final StoreLease lease;

        Lease(InProcessStore store, StoreLease lease) {
            this.store = store;
            this.lease = lease;
        }

        private boolean isLost() {
            return backing.get() != store;
        }

        @Override
        public Mono<Void> put(List<StoredValue> values) {
            values.forEach(value -> PUT.put(value.key(), value.value().length));
            return unlessSevered(lease.put(values));
        }

        @Override
        public Mono<Boolean> replace(String key, byte @Nullable [] expected, byte[] value) {
            PUT.put(key, value.length);
            return unlessSevered(lease.replace(key, expected, value));
        }

        @Override
        public Mono<Boolean> keepAlive() {
            return unlessSevered(Mono.defer(() -> isLost() ? Mono.just(false) : lease.keepAlive()));
        }

        @Override
        public Mono<Void> revoke() {
            return unlessSevered(lease.revoke());
        }
    }
}
