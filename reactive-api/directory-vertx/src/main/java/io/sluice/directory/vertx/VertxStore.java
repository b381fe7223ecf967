package io.sluice.directory.vertx;

import io.sluice.directory.store.DirectoryStore;
import io.sluice.directory.store.StoreLease;
import io.sluice.directory.store.StoredValue;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.shareddata.AsyncMap;
import io.vertx.core.spi.cluster.ClusterManager;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/**
 * Four maps: listed values, other values, leases (the keys of their other values), and beats (the nodes of leases, with
 * a time to live). A value is prefixed with the 36 characters of its lease, and valid while that lease has a beat from
 * a node in the cluster. A node that finds values of a dead lease removes them.
 */
final class VertxStore implements DirectoryStore {
    static final int LEASE_BYTES = 36;

    private static final Duration MEMBERS_INTERVAL = Duration.ofMillis(500);

    /** Less than half of the default number of Vert.x workers. */
    private static final int MOST_UNANSWERED = 8;

    private final Vertx vertx;
    private final ClusterManager cluster;
    private final String namespace;
    private final UnansweredRequests requests = new UnansweredRequests(MOST_UNANSWERED);

    VertxStore(Vertx vertx, ClusterManager cluster, String namespace) {
        this.vertx = vertx;
        this.cluster = cluster;
        this.namespace = namespace;
    }

    private <V, T> Mono<T> with(String map, Function<AsyncMap<String, V>, Future<T>> call) {
        return requests.request(() -> vertx.sharedData()
                .<String, V>getClusterWideMap(namespace + "." + map)
                .compose(call));
    }

    <T> Mono<T> listed(Function<AsyncMap<String, Buffer>, Future<T>> call) {
        return with("engines", call);
    }

    <T> Mono<T> others(Function<AsyncMap<String, Buffer>, Future<T>> call) {
        return with("regions", call);
    }

    <T> Mono<T> leases(Function<AsyncMap<String, String>, Future<T>> call) {
        return with("leases", call);
    }

    <T> Mono<T> beats(Function<AsyncMap<String, String>, Future<T>> call) {
        return with("beats", call);
    }

    String node() {
        return cluster.getNodeId();
    }

    void tell(String key) {
        vertx.eventBus().publish(namespace, key);
    }

    static String leaseOf(Buffer stored) {
        return stored.length() < LEASE_BYTES ? "" : stored.getString(0, LEASE_BYTES);
    }

    static byte[] valueOf(Buffer stored) {
        return stored.length() < LEASE_BYTES ? stored.getBytes() : stored.getBytes(LEASE_BYTES, stored.length());
    }

    Mono<Boolean> isAlive(String lease) {
        return beats(map -> map.get(lease))
                .map(node -> cluster.getNodes().contains(node))
                .defaultIfEmpty(false);
    }

    @Override
    public Mono<StoreLease> grant(Duration timeToLive) {
        return Mono.defer(() -> {
            VertxLease lease = new VertxLease(this, UUID.randomUUID().toString(), timeToLive);
            return sweep().then(lease.begin()).thenReturn(lease);
        });
    }

    /** Removes what dead leases have left. */
    private Mono<Void> sweep() {
        return Mono.zip(leases(AsyncMap::entries), beats(AsyncMap::entries))
                .flatMapMany(found -> {
                    Set<String> alive = alive(found.getT2());
                    return Flux.fromIterable(found.getT1().entrySet())
                            .filter(lease -> !alive.contains(lease.getKey()))
                            // the lease may have begun after the beats were read
                            .filterWhen(lease -> isAlive(lease.getKey()).map(begun -> !begun))
                            .concatMap(lease -> forget(lease.getKey(), lease.getValue()));
                })
                .then();
    }

    private Set<String> alive(Map<String, String> beats) {
        Set<String> nodes = new HashSet<>(cluster.getNodes());
        Set<String> alive = new HashSet<>();
        beats.forEach((lease, node) -> {
            if (nodes.contains(node)) {
                alive.add(lease);
            }
        });
        return alive;
    }

    /** Removes the keys of a lease, given as lines of text. The value of a key may belong to another lease. */
    Mono<Void> forget(String lease, String keys) {
        return Flux.fromIterable(keys.lines().toList())
                .concatMap(key -> others(map -> map.get(key))
                        .filter(held -> leaseOf(held).equals(lease))
                        .flatMap(held -> others(map -> map.removeIfPresent(key, held))))
                .then(leases(map -> map.remove(lease)))
                .then(beats(map -> map.remove(lease)))
                .then();
    }

    @Override
    public Mono<byte[]> get(String key) {
        return listed(map -> map.get(key))
                .switchIfEmpty(others(map -> map.get(key)))
                .filterWhen(stored -> isAlive(leaseOf(stored)))
                .map(VertxStore::valueOf);
    }

    @Override
    public Flux<StoredValue> list(String prefix) {
        return Mono.zip(listed(AsyncMap::entries), beats(AsyncMap::entries)).flatMapMany(found -> {
            Set<String> alive = alive(found.getT2());
            return Flux.fromIterable(found.getT1().entrySet())
                    .filter(entry -> entry.getKey().startsWith(prefix))
                    .concatMap(entry -> alive.contains(leaseOf(entry.getValue()))
                            ? Mono.just(new StoredValue(entry.getKey(), valueOf(entry.getValue())))
                            : removeIfDead(entry.getKey(), entry.getValue()));
        });
    }

    /** Checks again: the lease may have begun after the beats were read. */
    private Mono<StoredValue> removeIfDead(String key, Buffer stored) {
        return isAlive(leaseOf(stored))
                .flatMap(alive -> alive
                        ? Mono.just(new StoredValue(key, valueOf(stored)))
                        : listed(map -> map.removeIfPresent(key, stored)).then(Mono.empty()));
    }

    @Override
    public Flux<String> changes(String prefix) {
        Flux<String> told = Flux.create(
                sink -> {
                    MessageConsumer<String> consumer = vertx.eventBus().consumer(namespace);
                    consumer.handler(message -> {
                        String key = message.body();
                        if (key.startsWith(prefix)) {
                            sink.next(key);
                        }
                    });
                    consumer.completion().onSuccess(done -> sink.next("")).onFailure(sink::error);
                    sink.onDispose(consumer::unregister);
                },
                FluxSink.OverflowStrategy.BUFFER);
        // the event bus does not announce the death of a node
        Flux<String> members = Flux.interval(MEMBERS_INTERVAL)
                .onBackpressureDrop()
                .map(tick -> Set.copyOf(cluster.getNodes()))
                .distinctUntilChanged()
                .skip(1)
                .map(nodes -> "");
        return Flux.merge(told, members);
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }

    /** The keys of a lease, in the format of {@link #forget}. */
    static String text(List<String> keys) {
        return String.join("\n", keys);
    }
}
