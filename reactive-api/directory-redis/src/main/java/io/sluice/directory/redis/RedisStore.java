package io.sluice.directory.redis;

import io.lettuce.core.KeyValue;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.sluice.directory.store.DirectoryStore;
import io.sluice.directory.store.StoreLease;
import io.sluice.directory.store.StoredValue;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/**
 * Stores values under {@code value:KEY}, prefixed with the 16 bytes of their lease, and with its time to live. A sorted
 * set indexes the keys of listed values. It may contain stale keys: a key whose value is missing is skipped and
 * removed.
 */
final class RedisStore implements DirectoryStore {
    static final int LEASE_BYTES = 16;

    private static final String VALUE = "value:";
    private static final int KEYS_IN_A_READ = 256;

    private final RedisClient client;
    private final RedisURI address;
    private final String namespace;
    private final String expirations;
    private final boolean ownsClient;
    private final Duration silence;
    private final CommandConnection connection;

    /** Creates the store; on a working connection Redis answers within the silence. */
    RedisStore(RedisClient client, RedisURI address, String namespace, boolean ownsClient, Duration silence) {
        this.client = client;
        this.address = address;
        this.namespace = namespace;
        this.expirations = "__keyevent@" + address.getDatabase() + "__:expired";
        this.ownsClient = ownsClient;
        this.silence = silence;
        this.connection = new CommandConnection(client, address, silence);
    }

    Mono<RedisReactiveCommands<byte[], byte[]>> commands() {
        return connection.commands();
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    byte[] valueKey(String key) {
        return bytes(namespace + VALUE + key);
    }

    byte[] index() {
        return bytes(namespace + "index");
    }

    byte[] channel() {
        return bytes(namespace + "changes");
    }

    @Override
    public Mono<StoreLease> grant(Duration timeToLive) {
        return Mono.fromSupplier(() -> new RedisLease(this, timeToLive));
    }

    @Override
    public Mono<byte[]> get(String key) {
        return commands().flatMap(redis -> redis.get(valueKey(key))).map(RedisStore::withoutLease);
    }

    private static byte[] withoutLease(byte[] stored) {
        return Arrays.copyOfRange(stored, Math.min(LEASE_BYTES, stored.length), stored.length);
    }

    @Override
    public Flux<StoredValue> list(String prefix) {
        byte[] first = bytes(prefix);
        byte[] behind = Arrays.copyOf(first, first.length + 1);
        // greater than any character of a key, all of which are ASCII
        behind[first.length] = (byte) 0xff;
        Range<byte[]> range = Range.create(first, behind);
        return commands()
                .flatMapMany(redis -> redis.zrangebylex(index(), range, Limit.unlimited())
                        .buffer(KEYS_IN_A_READ)
                        .concatMap(keys -> values(redis, keys)));
    }

    private Flux<StoredValue> values(RedisReactiveCommands<byte[], byte[]> redis, List<byte[]> keys) {
        byte[][] valueKeys = keys.stream()
                .map(key -> valueKey(new String(key, StandardCharsets.US_ASCII)))
                .toArray(byte[][]::new);
        return redis.mget(valueKeys).index().concatMap(found -> {
            byte[] key = keys.get(found.getT1().intValue());
            KeyValue<byte[], byte[]> value = found.getT2();
            return value.hasValue()
                    ? Mono.just(
                            new StoredValue(new String(key, StandardCharsets.US_ASCII), withoutLease(value.getValue())))
                    : Scripts.FORGET
                            .run(redis, List.of(valueKey(new String(key, StandardCharsets.US_ASCII)), index()), key)
                            .then(Mono.empty());
        });
    }

    @Override
    public Flux<String> changes(String prefix) {
        return Flux.usingWhen(
                subscriptions(),
                connection -> changes(connection, prefix),
                // not awaited: closing a connection that the network has lost may take long
                connection -> Mono.fromRunnable(connection::closeAsync));
    }

    /** Closes a connection that arrives after its waiter gave up. */
    private Mono<StatefulRedisPubSubConnection<byte[], byte[]>> subscriptions() {
        return Mono.create(sink -> {
            CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> connecting =
                    client.connectPubSubAsync(ByteArrayCodec.INSTANCE, address);
            sink.onCancel(() -> connecting.thenAccept(StatefulRedisPubSubConnection::closeAsync));
            connecting.whenComplete((connection, error) -> {
                if (error == null) {
                    sink.success(connection);
                } else {
                    sink.error(causeOf(error));
                }
            });
        });
    }

    private static Throwable causeOf(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }

    private Flux<String> changes(StatefulRedisPubSubConnection<byte[], byte[]> connection, String prefix) {
        String expired = namespace + VALUE + prefix;
        return Flux.<String>create(
                sink -> {
                    connection.addListener(new RedisPubSubAdapter<byte[], byte[]>() {
                        @Override
                        public void message(byte[] channel, byte[] message) {
                            String text = new String(message, StandardCharsets.US_ASCII);
                            if (Arrays.equals(channel, channel())) {
                                if (text.startsWith(prefix)) {
                                    sink.next(text);
                                }
                            } else if (text.startsWith(expired)) {
                                sink.next(text.substring(namespace.length() + VALUE.length()));
                            }
                        }
                    });
                    // messages published while the connection was down are lost
                    connection.addListener(new RedisConnectionStateListener() {
                        @Override
                        public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
                            if (!sink.isCancelled()) {
                                sink.error(new IllegalStateException("the connection to Redis was lost"));
                            }
                        }
                    });
                    connection.async().subscribe(channel(), bytes(expirations)).whenComplete((done, error) -> {
                        if (error == null) {
                            sink.next("");
                        } else {
                            sink.error(causeOf(error));
                        }
                    });
                    // Subscribing again has no effect; it needs no protocol version, and no permission beyond those
                    // above.
                    sink.onDispose(Pulse.of(
                            connection.reactive().subscribe(channel()), silence, error -> sink.error(notAlive(error))));
                },
                FluxSink.OverflowStrategy.BUFFER);
    }

    private static IllegalStateException notAlive(Throwable error) {
        return new IllegalStateException("Redis does not answer on this connection any more", error);
    }

    @Override
    public Mono<Void> close() {
        return ownsClient
                ? Mono.fromRunnable(connection::end).then(Mono.fromFuture(() -> client.shutdownAsync()))
                : connection.close();
    }
}
