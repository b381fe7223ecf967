package io.sluice.directory.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.WatchOption;
import io.sluice.directory.DirectoryUnavailableException;
import io.sluice.directory.store.DirectoryStore;
import io.sluice.directory.store.StoreLease;
import io.sluice.directory.store.StoredValue;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/** Stores keys and values unchanged, under leases of etcd. */
final class EtcdStore implements DirectoryStore {
    private static final int MOST_LISTED = 100_000;

    private final EtcdClients clients;
    private final String namespace;

    EtcdStore(EtcdClients clients, String namespace) {
        this.clients = clients;
        this.namespace = namespace;
    }

    /** Started for each subscriber, and cancelled with it. */
    <T> Mono<T> request(Function<Client, CompletableFuture<T>> call) {
        return clients.request(call);
    }

    ByteSequence key(String key) {
        return ByteSequence.from(namespace + key, StandardCharsets.US_ASCII);
    }

    private String name(ByteSequence key) {
        return key.toString(StandardCharsets.US_ASCII).substring(namespace.length());
    }

    @Override
    public Mono<StoreLease> grant(Duration timeToLive) {
        long seconds = timeToLive.plusMillis(999).toSeconds();
        return request(client -> client.getLeaseClient().grant(seconds))
                .map(granted -> new EtcdLease(this, granted.getID()));
    }

    @Override
    public Mono<byte[]> get(String key) {
        return request(client -> client.getKVClient().get(key(key)))
                .flatMap(found -> found.getKvs().isEmpty()
                        ? Mono.empty()
                        : Mono.just(found.getKvs().getFirst().getValue().getBytes()));
    }

    @Override
    public Flux<StoredValue> list(String prefix) {
        GetOption all =
                GetOption.builder().isPrefix(true).withLimit(MOST_LISTED).build();
        return request(client -> client.getKVClient().get(key(prefix), all))
                .flatMapIterable(found -> {
                    if (found.isMore()) {
                        throw new DirectoryUnavailableException(
                                "more than " + MOST_LISTED + " names have this prefix; watch a longer one");
                    }
                    return found.getKvs();
                })
                .map(found ->
                        new StoredValue(name(found.getKey()), found.getValue().getBytes()));
    }

    @Override
    public Flux<String> changes(String prefix) {
        // a message reports that the watch exists before any change
        WatchOption all = WatchOption.builder()
                .isPrefix(true)
                .withCreateNotify(true)
                .withPrevKV(false)
                .build();
        return clients.stream(client -> Flux.create(
                sink -> {
                    Watch.Watcher watcher = client.getWatchClient().watch(key(prefix), all, listener(sink));
                    sink.onDispose(watcher::close);
                },
                FluxSink.OverflowStrategy.BUFFER));
    }

    private Watch.Listener listener(FluxSink<String> sink) {
        return Watch.listener(
                response -> {
                    if (response.getEvents().isEmpty()) {
                        // created, or recreated after the connection was lost: anything may have changed
                        sink.next("");
                    }
                    response.getEvents()
                            .forEach(event -> sink.next(name(event.getKeyValue().getKey())));
                },
                sink::error,
                sink::complete);
    }

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(clients::close);
    }
}
