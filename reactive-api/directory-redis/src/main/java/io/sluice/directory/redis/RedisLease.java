package io.sluice.directory.redis;

import io.lettuce.core.SetArgs;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.sluice.directory.store.StoreLease;
import io.sluice.directory.store.StoredValue;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A random number that prefixes its values, and the set of their keys. Redis has no leases: each key is renewed
 * individually.
 */
final class RedisLease implements StoreLease {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final byte[] NONE = {};

    private final RedisStore store;
    private final byte[] id = new byte[RedisStore.LEASE_BYTES];
    private final Duration timeToLive;
    private final Set<String> keys = ConcurrentHashMap.newKeySet();

    RedisLease(RedisStore store, Duration timeToLive) {
        this.store = store;
        this.timeToLive = timeToLive;
        RANDOM.nextBytes(id);
    }

    private byte[] millis() {
        return RedisStore.bytes(Long.toString(timeToLive.toMillis()));
    }

    private List<byte[]> keysOf(String key) {
        return List.of(store.valueKey(key), store.index());
    }

    @Override
    public Mono<Void> put(List<StoredValue> values) {
        return store.commands()
                .flatMapMany(redis -> Flux.fromIterable(values).concatMap(value -> {
                    keys.add(value.key());
                    byte[] stored = ByteBuffer.allocate(id.length + value.value().length)
                            .put(id)
                            .put(value.value())
                            .array();
                    return redis.set(store.valueKey(value.key()), stored, SetArgs.Builder.px(timeToLive.toMillis()));
                }))
                .then();
    }

    @Override
    public Mono<Boolean> replace(String key, byte @Nullable [] expected, byte[] value) {
        return store.commands().flatMap(redis -> {
            keys.add(key);
            return Scripts.REPLACE.run(
                    redis,
                    keysOf(key),
                    RedisStore.bytes(key),
                    store.channel(),
                    id,
                    millis(),
                    value,
                    RedisStore.bytes(expected == null ? "0" : "1"),
                    expected == null ? NONE : expected);
        });
    }

    /** A value that was replaced or has expired ends the lease. */
    @Override
    public Mono<Boolean> keepAlive() {
        return store.commands().flatMap(redis -> forEachKey(redis, Scripts.RENEW, id, millis()));
    }

    @Override
    public Mono<Void> revoke() {
        return store.commands()
                .flatMap(redis -> forEachKey(redis, Scripts.REVOKE, store.channel(), id))
                .then();
    }

    /** Returns whether the script took effect for every key. Sends all requests at once. */
    private Mono<Boolean> forEachKey(
            RedisReactiveCommands<byte[], byte[]> redis, Scripts script, byte[] first, byte[] second) {
        return Flux.fromIterable(List.copyOf(keys))
                .flatMap(key -> script.run(redis, keysOf(key), RedisStore.bytes(key), first, second), 64)
                .reduce(true, Boolean::logicalAnd);
    }
}
