package io.sluice.directory.store;

import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * What keeps values alive: when it is not renewed in time they disappear, as they do when it is revoked. A value that
 * another lease has replaced is not concerned. Calls come one at a time.
 */
public interface StoreLease {
    /**
     * Puts values that {@link DirectoryStore#list} and {@link DirectoryStore#changes} need not report.
     *
     * @param values at most 64 KiB each; their keys are never used again for anything else
     * @return completes when they are stored
     */
    Mono<Void> put(List<StoredValue> values);

    /**
     * Puts a value if what lies there is what is expected, in one step.
     *
     * @param key where
     * @param expected what must lie there, or {@code null} if nothing may
     * @param value the value to store, at most 256 KiB
     * @return whether it was put
     */
    Mono<Boolean> replace(String key, byte @Nullable [] expected, byte[] value);

    /**
     * Renews the lease for another time to live.
     *
     * @return whether it was still alive; if not, its values are gone or going
     */
    Mono<Boolean> keepAlive();

    /**
     * Removes all values that are still of this lease, and ends it.
     *
     * @return completes when they are gone
     */
    Mono<Void> revoke();
}
