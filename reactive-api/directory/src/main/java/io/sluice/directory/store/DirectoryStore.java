package io.sluice.directory.store;

import java.time.Duration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A place for a directory's entries: keys, values, leases. Each Mono starts when it is subscribed to; any error of it means
 * that the place does not answer. The caller adds the time-outs, by cancelling. What was read is at least as new as all that
 * was acknowledged before, and what {@link #changes} tells can be read. All methods may be called from any thread.
 */
public interface DirectoryStore {
    /**
     * Makes a lease.
     *
     * @param timeToLive how long it lives without being renewed; may be rounded up to whole seconds
     * @return the lease
     */
    Mono<StoreLease> grant(Duration timeToLive);

    /**
     * Reads one value.
     *
     * @param key where
     * @return the value; empty if there is none
     */
    Mono<byte[]> get(String key);

    /**
     * Reads all values that were put by {@link StoreLease#replace} under keys that begin alike.
     *
     * @param prefix how the keys begin
     * @return the values in any order
     */
    Flux<StoredValue> list(String prefix);

    /**
     * Tells which of those keys may have changed. Every change, by whomever, comes after the first signal; that a value has
     * expired may go untold.
     *
     * @param prefix how the keys begin
     * @return first an empty string, when changes are heard of from now on, then keys; an error when some may have been
     *     missed. Subscribers do not hold it up
     */
    Flux<String> changes(String prefix);

    /**
     * Gives up what was opened for this object. Leases are left to expire.
     *
     * @return completes when it is done
     */
    Mono<Void> close();
}
