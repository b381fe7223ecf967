package io.sluice.directory;

import io.sluice.directory.store.DirectoryStore;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A directory in a store. An entry is a head and the chunks of its regions. Chunks are stored under their publication
 * and revision before the head refers to that revision, and removed after another head has replaced it: a reader that
 * misses a chunk has read an old head and reads it again. So no step needs an atomic update of more than one key.
 */
final class StoreDirectory implements Directory {
    private static final int CHUNKS_AT_A_TIME = 4;

    private final StoreAccess access;
    private final Set<StorePublication> publications = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private final Sinks.Empty<Void> closed = Sinks.empty();

    StoreDirectory(DirectoryStore store, DirectoryOptions options) {
        access = new StoreAccess(Objects.requireNonNull(store, "store"), Objects.requireNonNull(options, "options"));
    }

    @Override
    public Mono<Publication> publish(Advertisement advertisement) {
        Objects.requireNonNull(advertisement, "advertisement");
        return Mono.defer(() -> {
            StorePublication publication = new StorePublication(access, advertisement, publications::remove);
            publications.add(publication);
            if (isClosed.get()) {
                publications.remove(publication);
                return Mono.error(StoreAccess.closedError());
            }
            return publication.start();
        });
    }

    @Override
    public Mono<EngineEntry> find(String name) {
        Names.check(name);
        return head(name).map(EntryHead::entry);
    }

    @Override
    public Mono<EngineListing> lookup(String name) {
        return lookupRegions(name, "");
    }

    @Override
    public Mono<EngineListing> lookupRegions(String name, String regionPrefix) {
        Names.check(name);
        Objects.requireNonNull(regionPrefix, "regionPrefix");
        return listing(name, head -> head.chunks().withPrefix(regionPrefix))
                .map(listing -> regionPrefix.isEmpty()
                        ? listing
                        : new EngineListing(listing.entry(), beginning(listing.regions(), regionPrefix)));
    }

    @Override
    public Mono<RegionDescriptor> lookupRegion(String name, String region) {
        Names.check(name);
        Objects.requireNonNull(region, "region");
        return listing(name, head -> {
                    int chunk = head.chunks().of(region);
                    return chunk < 0 ? List.of() : List.of(chunk);
                })
                .map(listing -> {
                    RegionDescriptor descriptor = listing.regions().get(region);
                    if (descriptor == null) {
                        throw new RegionNotFoundException(
                                "the engine '" + name + "' has published no region '" + region + "'");
                    }
                    return descriptor;
                });
    }

    private Mono<EntryHead> head(String name) {
        return access.head(name)
                .switchIfEmpty(Mono.error(() -> new EngineNotFoundException(
                        "no engine is published as '" + name + "', or its lease has expired")));
    }

    private Mono<EngineListing> listing(String name, Function<EntryHead, List<Integer>> wanted) {
        return access.attempts(name, () -> head(name).flatMap(head -> listing(head, wanted.apply(head))));
    }

    /** Empty if the head is no longer the newest. */
    private Mono<EngineListing> listing(EntryHead head, List<Integer> chunks) {
        EngineEntry entry = head.entry();
        return Flux.fromIterable(chunks)
                .flatMapSequential(
                        index -> access.get(Keys.chunk(entry.name(), head.publication(), entry.revision(), index))
                                .map(bytes -> RegionChunk.fromBytes(head, index, bytes)),
                        CHUNKS_AT_A_TIME)
                .collectList()
                .filter(parts -> parts.size() == chunks.size())
                .map(parts -> {
                    SortedMap<String, RegionDescriptor> regions = new TreeMap<>();
                    parts.forEach(regions::putAll);
                    return new EngineListing(entry, regions);
                });
    }

    private static SortedMap<String, RegionDescriptor> beginning(
            SortedMap<String, RegionDescriptor> regions, String prefix) {
        SortedMap<String, RegionDescriptor> found = new TreeMap<>();
        for (var region : regions.tailMap(prefix).entrySet()) {
            if (!region.getKey().startsWith(prefix)) {
                break;
            }
            found.put(region.getKey(), region.getValue());
        }
        return found;
    }

    @Override
    public Flux<DirectoryEvent> watch(String prefix) {
        Names.checkPrefix(prefix);
        Publisher<DirectoryEvent> events = subscriber -> {
            DirectoryWatch watch = new DirectoryWatch(access, prefix, subscriber);
            subscriber.onSubscribe(watch);
            watch.establish();
        };
        return Flux.from(events).takeUntilOther(closed.asMono());
    }

    @Override
    public Mono<Void> close() {
        return Mono.defer(() -> {
            isClosed.set(true);
            closed.tryEmitEmpty();
            return Flux.fromIterable(List.copyOf(publications))
                    .flatMap(publication -> publication.withdraw().onErrorComplete())
                    .then(access.close().onErrorComplete());
        });
    }
}
