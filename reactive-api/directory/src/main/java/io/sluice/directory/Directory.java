package io.sluice.directory;

import io.sluice.directory.store.DirectoryStore;
import io.sluice.directory.store.InProcessStore;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Engine discovery. An engine publishes its address and its named regions under a name; the entry lives as long as the
 * engine renews its lease.
 *
 * <p>Every Mono and Flux is lazy and cold. Each operation makes a bounded number of requests to the store, each with a
 * time-out. If the store does not answer, it fails with {@link DirectoryUnavailableException}; it works again as soon
 * as the store does. Connections and transfers do not depend on the directory. Signals arrive on threads of the store's
 * client or of Reactor; do not block them. All methods may be called from any thread.
 *
 * <p>A directory is not meant for secrets, but descriptors are capabilities, and a process that can write to the
 * directory can redirect peers: see the trust model in {@code docs/discovery.md}.
 */
public interface Directory {
    /**
     * Creates a directory over a store.
     *
     * @param store the store; closed with the directory
     * @param options the time-outs and intervals
     * @return the directory; it sends nothing before its first use
     */
    static Directory over(DirectoryStore store, DirectoryOptions options) {
        return new StoreDirectory(store, options);
    }

    /**
     * Creates an empty directory for the engines of this process.
     *
     * @return the directory
     */
    static Directory inProcess() {
        return over(new InProcessStore(), DirectoryOptions.defaults());
    }

    /**
     * Publishes an engine. If the name is taken, the youngest publication wins, so that a restarted engine need not
     * wait until its old entry expires.
     *
     * @param advertisement the engine
     * @return the publication, which lives until it is {@linkplain Publication#withdraw() withdrawn} or superseded, or
     *     this directory is closed; or {@link DirectoryUnavailableException}. After a cancel or a {@code timeout} no entry
     *     is left; {@code next} and {@code take}, which cancel as they take the publication, keep it:
     *     {@link io.sluice.reactor.ReactiveTransferEngine#connect(io.sluice.engine.EngineAddress)} says how far that
     *     reaches
     */
    Mono<Publication> publish(Advertisement advertisement);

    /**
     * Looks up an engine without its regions: one small read.
     *
     * @param name the engine's name
     * @return the entry; or {@link EngineNotFoundException}, {@link DirectoryUnavailableException},
     *     {@link DirectoryFormatException}
     */
    Mono<EngineEntry> find(String name);

    /**
     * Looks up an engine with all its regions.
     *
     * @param name the engine's name
     * @return the complete entry; errors as for {@link #find}
     */
    Mono<EngineListing> lookup(String name);

    /**
     * Looks up an engine and its regions whose names have a prefix. Reads only the parts of the entry that may contain
     * them.
     *
     * @param name the engine's name
     * @param regionPrefix the prefix of the region names
     * @return the entry with those regions, possibly none; errors as for {@link #find}
     */
    Mono<EngineListing> lookupRegions(String name, String regionPrefix);

    /**
     * Looks up one region. Reads only the part of the entry that may contain it.
     *
     * @param name the engine's name
     * @param region the region's name
     * @return its descriptor; errors as for {@link #find}, and {@link RegionNotFoundException}
     */
    Mono<RegionDescriptor> lookupRegion(String name, String region);

    /**
     * Watches all engines whose names have a prefix: emits a {@link DirectoryEvent.Snapshot}, then changes. If the
     * directory does not answer, emits {@link DirectoryEvent.Interrupted}, and a new snapshot once it does.
     *
     * <p>The watch reports the state, not its history: it may conflate several changes of one name, and a subscriber
     * with little demand receives fewer, newer events. It never omits the final state, and always shows a restart as
     * such. So a slow subscriber costs no more memory than one entry for each name.
     *
     * @param prefix the prefix of the names; empty for all
     * @return the events, unbounded; completes when this directory is closed
     */
    Flux<DirectoryEvent> watch(String prefix);

    /**
     * Withdraws all publications, ends all watches and closes the store's client.
     *
     * @return completes when done, or when the store has not answered in time
     */
    Mono<Void> close();
}
