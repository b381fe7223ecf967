package io.sluice.directory.store;

import java.time.Duration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Stores a directory's entries: keys, values, leases. Each Mono starts on subscription; any error means that the store
 * does not answer. The caller adds time-outs and cancels. Reads return values at least as new as any write acknowledged
 * before, and as any change that {@link #changes} has reported. All methods may be called from any thread.
 */
public interface DirectoryStore {
    /**
     * Creates a lease.
     *
     * @param timeToLive how long it lives without renewal; may be rounded up to whole seconds
     * @return the lease
     */
    Mono<StoreLease> grant(Duration timeToLive);

    /**
     * Reads one value.
     *
     * @param key the key
     * @return the value; empty if there is none
     */
    Mono<byte[]> get(String key);

    /**
     * Lists all values stored by {@link StoreLease#replace} under keys with a prefix.
     *
     * @param prefix the prefix of the keys
     * @return the values in any order
     */
    Flux<StoredValue> list(String prefix);

    /**
     * Reports which of those keys may have changed. After the first signal, every change by any process is reported;
     * the expiry of a value may not be.
     *
     * @param prefix the prefix of the keys
     * @return an empty string once changes are being reported, then keys; an error if some may have been missed.
     *     Subscribers do not block it
     */
    Flux<String> changes(String prefix);

    /**
     * Releases the resources of this object. Leases are left to expire.
     *
     * @return completes when done
     */
    Mono<Void> close();
}
