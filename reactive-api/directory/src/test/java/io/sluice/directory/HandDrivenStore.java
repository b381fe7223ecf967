package io.sluice.directory;

import io.sluice.directory.store.DirectoryStore;
import io.sluice.directory.store.StoreLease;
import io.sluice.directory.store.StoredValue;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/** A store whose heads, hints and failures are the test's. */
final class HandDrivenStore implements DirectoryStore {
    private final Map<String, byte[]> heads = new ConcurrentSkipListMap<>();
    private final Set<FluxSink<String>> listeners = ConcurrentHashMap.newKeySet();

    /** An entry that differs from others by its revision. */
    static EngineEntry entry(String name, long revision) {
        EngineId engine = new EngineId(7, name.hashCode());
        Advertisement engineItself =
                new Advertisement(name, new EngineAddress("127.0.0.1", 7_000, engine), 1, new TreeMap<>());
        return EncodedEntry.of(engineItself, 1, revision).head().entry();
    }

    /** Stores a head, without a hint. */
    void put(EngineEntry entry) {
        Advertisement engineItself = new Advertisement(entry.name(), entry.address(), entry.epoch(), new TreeMap<>());
        heads.put(
                Keys.head(entry.name()),
                EncodedEntry.of(engineItself, 1, entry.revision()).head().toBytes());
    }

    /** Stores a head, and tells the listeners. */
    void publish(EngineEntry entry) {
        put(entry);
        listeners.forEach(listener -> listener.next(Keys.head(entry.name())));
    }

    /** How many listen for hints. */
    int listeners() {
        return listeners.size();
    }

    /** Hints may have been missed, says the store to each. */
    void lose() {
        listeners.forEach(listener -> listener.error(new IllegalStateException("lost")));
    }

    @Override
    public Mono<byte[]> get(String key) {
        return Mono.fromSupplier(() -> heads.get(key));
    }

    @Override
    public Flux<StoredValue> list(String prefix) {
        return Flux.defer(() -> Flux.fromIterable(heads.entrySet().stream()
                .filter(head -> head.getKey().startsWith(prefix))
                .map(head -> new StoredValue(head.getKey(), head.getValue()))
                .toList()));
    }

    @Override
    public Flux<String> changes(String prefix) {
        return Flux.create(sink -> {
            listeners.add(sink);
            sink.onDispose(() -> listeners.remove(sink));
            sink.next("");
        });
    }

    @Override
    public Mono<StoreLease> grant(Duration timeToLive) {
        return Mono.error(new UnsupportedOperationException());
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }
}
