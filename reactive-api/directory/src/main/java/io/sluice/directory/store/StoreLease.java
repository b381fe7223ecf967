package io.sluice.directory.store;

import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Keeps values alive: they are removed when it is not renewed in time, or is revoked. A value replaced under another
 * lease is not affected. Calls are serial.
 */
public interface StoreLease {
    /**
     * Stores values that {@link DirectoryStore#list} and {@link DirectoryStore#changes} need not report.
     *
     * @param values at most 64 KiB each; their keys are never reused for anything else
     * @return completes when they are stored
     */
    Mono<Void> put(List<StoredValue> values);

    /**
     * Compares and sets a value atomically.
     *
     * @param key the key
     * @param expected the required current value, or {@code null} for none
     * @param value the value to store, at most 256 KiB
     * @return whether the value was stored
     */
    Mono<Boolean> replace(String key, byte @Nullable [] expected, byte[] value);

    /**
     * Renews the lease for another time to live.
     *
     * @return whether it was still alive; if not, its values are gone or will be
     */
    Mono<Boolean> keepAlive();

    /**
     * Removes all values that still belong to this lease, and ends it.
     *
     * @return completes when they are removed
     */
    Mono<Void> revoke();
}
