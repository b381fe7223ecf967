package io.sluice.directory;

import io.sluice.directory.store.DirectoryStore;
import io.sluice.directory.store.InProcessStore;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Where engines find each other. An engine publishes its address and its named regions under a name; the entry lives as
 * long as the engine renews its lease.
 *
 * <p>Every Mono and Flux is lazy and cold. Each operation ends within a bounded number of requests to the store, each with
 * a time-out; when the store does not answer it fails with {@link DirectoryUnavailableException}, and works again as soon as
 * the store does. Connections and transfers do not depend on the directory. Signals come on threads of the store's client
 * or of Reactor; do not block them. All methods may be called from any thread.
 *
 * <p>A directory is not a place for secrets, but descriptors are capabilities, and a process that can write to the directory can
 * send peers elsewhere: see the trust model in {@code docs/discovery.md}.
 */
public interface Directory {
    /**
     * A directory in a store.
     *
     * @param store closed with the directory
     * @param options times
     * @return the directory; nothing is sent before it is used
     */
    static Directory over(DirectoryStore store, DirectoryOptions options) {
        return new StoreDirectory(store, options);
    }

    /**
     * A new directory for the engines of this process.
     *
     * @return an empty directory
     */
    static Directory inProcess() {
        return over(new InProcessStore(), DirectoryOptions.defaults());
    }

    /**
     * Publishes an engine. If another one has the name, the name is taken from it: the youngest publication wins, so that an
     * engine that restarts need not wait for its old entry to expire.
     *
     * @param advertisement the engine
     * @return the publication, which is alive until it is {@linkplain Publication#withdraw() withdrawn}, superseded, or this
     *     directory closed; or {@link DirectoryUnavailableException}. After a cancel the entry is taken out again
     */
    Mono<Publication> publish(Advertisement advertisement);

    /**
     * Looks an engine up without its regions: one small read.
     *
     * @param name the engine's
     * @return the entry; or {@link EngineNotFoundException}, {@link DirectoryUnavailableException},
     *     {@link DirectoryFormatException}
     */
    Mono<EngineEntry> find(String name);

    /**
     * Looks an engine up with all its regions.
     *
     * @param name the engine's
     * @return the whole entry; errors as for {@link #find}
     */
    Mono<EngineListing> lookup(String name);

    /**
     * Looks up an engine's regions whose names begin alike. Only the parts of the entry that may hold them are read.
     *
     * @param name the engine's
     * @param regionPrefix how their names begin
     * @return the entry with those regions, possibly none; errors as for {@link #find}
     */
    Mono<EngineListing> lookupRegions(String name, String regionPrefix);

    /**
     * Looks up one region. Only the part of the entry that may hold it is read.
     *
     * @param name the engine's
     * @param region the region's
     * @return its descriptor; errors as for {@link #find}, and {@link RegionNotFoundException}
     */
    Mono<RegionDescriptor> lookupRegion(String name, String region);

    /**
     * Watches all engines whose names begin alike: a {@link DirectoryEvent.Snapshot}, then changes. When the directory does
     * not answer, an {@link DirectoryEvent.Interrupted} tells so, and once it does a new snapshot.
     *
     * <p>The watch follows the state, not its history: of several changes of one name in a row it may tell the last alone,
     * and a subscriber that asks for little gets fewer, newer events. What was told is never further behind than what the
     * subscriber has asked for, no final state is left out, and a restart shows as such. So a slow subscriber costs no
     * memory but one entry for each name.
     *
     * @param prefix how the names begin; empty for all
     * @return the events, without end; completes when this directory is closed
     */
    Flux<DirectoryEvent> watch(String prefix);

    /**
     * Withdraws all publications, ends all watches and closes the store's client.
     *
     * @return completes when that is done, or the store has not answered in time
     */
    Mono<Void> close();
}
