package io.sluice.directory.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A store in memory, which any number of directories of this process may share. Closing it has no effect. */
public final class InProcessStore implements DirectoryStore {
    private final Object lock = new Object();
    private final TreeMap<String, Held> values = new TreeMap<>();
    private final Set<Lease> leases = new HashSet<>();
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();

    @SuppressWarnings("ArrayRecordComponent")
    private record Held(byte[] value, Lease lease, boolean isListed) {}

    private record Listener(String prefix, FluxSink<String> sink) {}

    /** Creates an empty store. */
    public InProcessStore() {}

    @Override
    public Mono<StoreLease> grant(Duration timeToLive) {
        return Mono.fromSupplier(() -> {
            Lease lease = new Lease(timeToLive.toNanos());
            synchronized (lock) {
                leases.add(lease);
            }
            lease.watch();
            return lease;
        });
    }

    @Override
    public Mono<byte[]> get(String key) {
        return Mono.fromSupplier(() -> {
            synchronized (lock) {
                Held held = values.get(key);
                return held == null ? null : held.value();
            }
        });
    }

    @Override
    public Flux<StoredValue> list(String prefix) {
        return Flux.defer(() -> {
            List<StoredValue> found = new ArrayList<>();
            synchronized (lock) {
                for (Map.Entry<String, Held> entry : values.tailMap(prefix).entrySet()) {
                    if (!entry.getKey().startsWith(prefix)) {
                        break;
                    }
                    if (entry.getValue().isListed()) {
                        found.add(
                                new StoredValue(entry.getKey(), entry.getValue().value()));
                    }
                }
            }
            return Flux.fromIterable(found);
        });
    }

    @Override
    public Flux<String> changes(String prefix) {
        return Flux.create(
                sink -> {
                    Listener listener = new Listener(prefix, sink);
                    listeners.add(listener);
                    sink.onDispose(() -> listeners.remove(listener));
                    sink.next("");
                },
                FluxSink.OverflowStrategy.BUFFER);
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }

    private void tell(Iterable<String> keys) {
        for (String key : keys) {
            for (Listener listener : listeners) {
                if (key.startsWith(listener.prefix())) {
                    listener.sink().next(key);
                }
            }
        }
    }

    private final class Lease implements StoreLease {
        private final long nanos;
        private long renewedAt = System.nanoTime();

        Lease(long nanos) {
            this.nanos = nanos;
        }

        /** Checks again when the lease would expire without renewal. */
        void watch() {
            long left;
            synchronized (lock) {
                if (!leases.contains(this)) {
                    return;
                }
                left = nanos - (System.nanoTime() - renewedAt);
            }
            if (left <= 0) {
                end();
            } else {
                Schedulers.parallel().schedule(this::watch, left, TimeUnit.NANOSECONDS);
            }
        }

        private boolean end() {
            Map<String, Held> gone = new HashMap<>();
            boolean wasAlive;
            synchronized (lock) {
                wasAlive = leases.remove(this);
                values.forEach((key, held) -> {
                    if (held.lease() == this) {
                        gone.put(key, held);
                    }
                });
                gone.keySet().forEach(values::remove);
            }
            tell(gone.keySet());
            return wasAlive;
        }

        private void requireAlive() {
            if (!leases.contains(this)) {
                throw new IllegalStateException("the lease has expired; take another");
            }
        }

        @Override
        public Mono<Void> put(List<StoredValue> added) {
            return Mono.fromRunnable(() -> {
                synchronized (lock) {
                    requireAlive();
                    added.forEach(value -> values.put(value.key(), new Held(value.value(), this, false)));
                }
            });
        }

        @Override
        public Mono<Boolean> replace(String key, byte @Nullable [] expected, byte[] value) {
            return Mono.fromSupplier(() -> {
                synchronized (lock) {
                    requireAlive();
                    Held held = values.get(key);
                    if (!Arrays.equals(held == null ? null : held.value(), expected)) {
                        return false;
                    }
                    values.put(key, new Held(value, this, true));
                }
                tell(List.of(key));
                return true;
            });
        }

        @Override
        public Mono<Boolean> keepAlive() {
            return Mono.fromSupplier(() -> {
                synchronized (lock) {
                    renewedAt = System.nanoTime();
                    return leases.contains(this);
                }
            });
        }

        @Override
        public Mono<Void> revoke() {
            return Mono.fromRunnable(this::end);
        }
    }
}
