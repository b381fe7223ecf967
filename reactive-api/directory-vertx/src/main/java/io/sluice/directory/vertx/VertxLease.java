package io.sluice.directory.vertx;

import io.sluice.directory.store.StoreLease;
import io.sluice.directory.store.StoredValue;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A lease is alive while it has a beat and the node that owns it is in the cluster. */
final class VertxLease implements StoreLease {
    private final VertxStore store;
    private final String id;
    private final long timeToLiveMillis;
    private final Set<String> listedKeys = new ConcurrentSkipListSet<>();
    private final Set<String> otherKeys = new ConcurrentSkipListSet<>();

    VertxLease(VertxStore store, String id, Duration timeToLive) {
        this.store = store;
        this.id = id;
        this.timeToLiveMillis = timeToLive.toMillis();
    }

    Mono<Void> begin() {
        return beat().then(noteKeys());
    }

    private Mono<Void> beat() {
        return store.beats(map -> map.put(id, store.node(), timeToLiveMillis));
    }

    private Mono<Void> noteKeys() {
        return store.leases(map -> map.put(id, VertxStore.text(List.copyOf(otherKeys))));
    }

    private Buffer stored(byte[] value) {
        return Buffer.buffer(VertxStore.LEASE_BYTES + value.length)
                .appendString(id)
                .appendBytes(value);
    }

    /** Records the keys first: then the values can be found, even if this process dies in between. */
    @Override
    public Mono<Void> put(List<StoredValue> values) {
        return Mono.defer(() -> {
            values.forEach(value -> otherKeys.add(value.key()));
            return noteKeys()
                    .thenMany(Flux.fromIterable(values)
                            .concatMap(value -> store.others(map -> map.put(value.key(), stored(value.value())))))
                    .then();
        });
    }

    @Override
    public Mono<Boolean> replace(String key, byte @Nullable [] expected, byte[] value) {
        return store.listed(map -> map.get(key))
                .flatMap(held -> store.isAlive(VertxStore.leaseOf(held)).flatMap(alive -> {
                    byte[] seen = alive ? VertxStore.valueOf(held) : null;
                    return Arrays.equals(seen, expected)
                            ? store.listed(map -> map.replaceIfPresent(key, held, stored(value)))
                            : Mono.just(false);
                }))
                .switchIfEmpty(Mono.defer(() -> expected != null
                        ? Mono.just(false)
                        : store.listed(map -> map.putIfAbsent(key, stored(value)))
                                .map(other -> false)
                                .defaultIfEmpty(true)))
                .doOnNext(put -> {
                    listedKeys.add(key);
                    if (put) {
                        store.tell(key);
                    }
                });
    }

    /** Other nodes may have seen a missing beat, and removed the values. */
    @Override
    public Mono<Boolean> keepAlive() {
        return store.beats(map -> map.get(id))
                .flatMap(node -> beat().then(store.leases(map -> map.get(id))))
                .map(keys -> true)
                .defaultIfEmpty(false);
    }

    @Override
    public Mono<Void> revoke() {
        return Flux.fromIterable(List.copyOf(listedKeys))
                .concatMap(key -> store.listed(map -> map.get(key))
                        .filter(held -> VertxStore.leaseOf(held).equals(id))
                        .flatMap(held -> store.listed(map -> map.removeIfPresent(key, held)))
                        .doOnNext(removed -> store.tell(key)))
                .then(store.forget(id, VertxStore.text(List.copyOf(otherKeys))));
    }
}
