package io.sluice.directory.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryClosedException;
import io.sluice.directory.DirectoryEvent;
import io.sluice.directory.DirectoryRendezvous;
import io.sluice.directory.EngineEntry;
import io.sluice.directory.EngineListing;
import io.sluice.directory.EngineNotFoundException;
import io.sluice.directory.NameTakenException;
import io.sluice.directory.NamedConnections;
import io.sluice.directory.Publication;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.recovery.ReconnectOptions;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The contract of every directory, but for {@link DirectoryFailureContract}. One store serves all tests of a class; each test
 * has its own names.
 */
@SuppressWarnings("NullAway") // AssertJ checks what is read.
public abstract class DirectoryContract extends DirectoryFixture {
    /** The most bytes that 15,000 regions may take in the store. */
    private static final long MOST_BYTES = 1_500_000;

    /** Called by JUnit. */
    protected DirectoryContract() {}

    @Test
    void whatIsPublishedIsFoundByOthers() {
        Advertisement advertised = advertisement(name, 100);
        EngineEntry published = get(directory.publish(advertised)).entry();

        EngineEntry found = get(other.find(name));
        assertThat(found).isEqualTo(published);
        assertThat(found.address()).isEqualTo(advertised.address());
        assertThat(found.epoch()).isEqualTo(advertised.epoch());
        assertThat(found.regionCount()).isEqualTo(100);
        assertThat(get(other.lookup(name))).isEqualTo(new EngineListing(published, advertised.regions()));
    }

    @Test
    void anEntryMayHaveNoRegions() {
        Advertisement advertised = advertisement(name, 0);
        EngineEntry published = get(directory.publish(advertised)).entry();
        assertThat(get(other.lookup(name))).isEqualTo(new EngineListing(published, new TreeMap<>()));
    }

    @Test
    void partsOfFifteenThousandRegionsAreLookedUp() {
        Advertisement advertised = advertisement(name, 15_000);
        get(directory.publish(advertised));
        assertThat(store.storedBytes(name)).isBetween(100_000L, MOST_BYTES);

        assertThat(get(other.lookup(name)).regions()).isEqualTo(advertised.regions());
        String one = ContractRegions.name(12_345);
        assertThat(get(other.lookupRegion(name, one)))
                .isEqualTo(advertised.regions().get(one));
        SortedMap<String, RegionDescriptor> layer =
                get(other.lookupRegions(name, "layer/07/")).regions();
        assertThat(layer).hasSizeGreaterThan(400).isEqualTo(advertised.regions().subMap("layer/07/", "layer/070"));
        assertThat(get(other.lookupRegions(name, "no layer")).regions()).isEmpty();
    }

    @Test
    void whatIsNotThereIsNotFound() {
        assertFails(other.find(name), EngineNotFoundException.class);
        assertFails(other.lookup(name), EngineNotFoundException.class);
        get(directory.publish(advertisement(name, 10)));
        assertFails(other.lookupRegion(name, "absent"), RegionNotFoundException.class);
        assertFails(other.lookupRegion(name, "zzz"), RegionNotFoundException.class);
        assertFails(other.find(name + "x"), EngineNotFoundException.class);
    }

    @Test
    void nothingHappensBeforeASubscription() {
        Mono<Publication> publish = directory.publish(advertisement(name, 1));
        assertFails(other.find(name), EngineNotFoundException.class);
        get(publish);
        get(other.find(name));
    }

    @Test
    void aWatchTellsWhatIsThereAndThenWhatChanges() {
        get(directory.publish(advertisement(name + "/first", 1)));
        WatchLog log = closedLast(new WatchLog(other, name + "/"));
        DirectoryEvent.Snapshot snapshot = log.await(0, DirectoryEvent.Snapshot.class, any -> true);
        assertThat(snapshot.entries()).extracting(EngineEntry::name).containsExactly(name + "/first");

        Advertisement second = advertisement(name + "/second", 2);
        Publication publication = get(directory.publish(second));
        log.await(1, DirectoryEvent.Published.class, event -> event.entry().equals(publication.entry()));

        EngineEntry before = publication.entry();
        SortedMap<String, RegionDescriptor> more = ContractRegions.many(before.engineId(), before.epoch(), 3);
        EngineEntry updated = get(publication.update(more));
        DirectoryEvent.Changed changed = log.await(
                1, DirectoryEvent.Changed.class, event -> event.entry().equals(updated));
        assertThat(changed.isRestart()).isFalse();
        assertThat(get(other.lookup(name + "/second")).regions()).isEqualTo(more);

        publication.withdraw().block(Patience.BOUND);
        log.await(
                1,
                DirectoryEvent.Removed.class,
                event -> event.previous().name().equals(name + "/second"));
        publication.ended().block(Patience.BOUND);
        assertFails(other.find(name + "/second"), EngineNotFoundException.class);
        assertFails(publication.update(more), DirectoryClosedException.class);
        get(other.find(name + "/first"));
    }

    @Test
    void aWatchTellsOfNoOtherNames() {
        WatchLog log = closedLast(new WatchLog(other, name + "/a"));
        log.await(0, DirectoryEvent.Snapshot.class, any -> true);
        get(directory.publish(advertisement(name + "/b", 1)));
        get(directory.publish(advertisement(name + "/a", 1)));
        log.await(1, DirectoryEvent.Published.class, any -> true);
        assertThat(log.events())
                .filteredOn(DirectoryEvent.Published.class::isInstance)
                .allSatisfy(event -> assertThat(
                                ((DirectoryEvent.Published) event).entry().name())
                        .isEqualTo(name + "/a"));
    }

    @Test
    void aSlowWatcherGetsTheLastStateAndNoBacklog() {
        List<DirectoryEvent> seen = new CopyOnWriteArrayList<>();
        AtomicReference<Subscription> demand = new AtomicReference<>();
        Flux<DirectoryEvent> watch = other.watch(name);
        watch.subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                demand.set(subscription);
                closedLast(subscription::cancel);
            }

            @Override
            protected void hookOnNext(DirectoryEvent event) {
                seen.add(event);
            }
        });
        demand.get().request(1);
        Awaitility.await().atMost(Patience.BOUND).until(() -> seen.size() == 1);

        Publication publication = get(directory.publish(advertisement(name, 0)));
        EngineEntry first = publication.entry();
        EngineEntry last = first;
        for (int i = 1; i <= 20; i++) {
            last = get(publication.update(ContractRegions.many(first.engineId(), first.epoch(), i)));
        }
        EngineEntry expected = last;
        WatchLog quick = closedLast(new WatchLog(other, name));
        quick.await(0, DirectoryEvent.Snapshot.class, event -> event.entries().contains(expected));
        assertThat(seen).hasSize(1);

        demand.get().request(Long.MAX_VALUE);
        Awaitility.await()
                .atMost(Patience.BOUND)
                .until(() -> seen.stream()
                        .anyMatch(event -> (event instanceof DirectoryEvent.Published published
                                        && published.entry().equals(expected))
                                || (event instanceof DirectoryEvent.Changed changed
                                        && changed.entry().equals(expected))));
        assertThat(seen).as("events of 21 changes").hasSizeLessThan(21);
    }

    @Test
    void theYoungestPublicationHasTheName() {
        // The next beat reports it, so the lease must be short.
        Directory elder = open(PATIENT.withLeaseTime(SHORT_LEASE));
        Publication first = get(elder.publish(advertisement(name, 50)));
        EngineEntry second = get(directory.publish(advertisement(name, 60))).entry();

        assertThat(get(other.find(name))).isEqualTo(second);
        assertFails(first.ended(), NameTakenException.class);
        assertThat(get(other.find(name))).isEqualTo(second);
        assertThat(get(other.lookup(name)).regions()).hasSize(60);
        first.withdraw().block(Patience.BOUND);
        assertThat(get(other.find(name))).as("after the elder has withdrawn").isEqualTo(second);
    }

    @Test
    void aClosedDirectoryTakesItsEntriesAlong() {
        Directory closing = store.open(PATIENT);
        get(closing.publish(advertisement(name, 5)));
        WatchLog log = closedLast(new WatchLog(other, name));
        log.await(0, DirectoryEvent.Snapshot.class, event -> event.entries().size() == 1);
        Mono<Void> watchEnds = closing.watch(name).then();
        var ended = watchEnds.toFuture();

        closing.close().block(Patience.BOUND);

        log.await(1, DirectoryEvent.Removed.class, any -> true);
        assertThat(ended).succeedsWithin(Patience.BOUND);
        assertFails(closing.find(name), DirectoryClosedException.class);
        assertFails(closing.publish(advertisement(name, 1)), DirectoryClosedException.class);
    }

    @Test
    void manyPublishersGetTheirNames() {
        int count = 50;
        Map<String, EngineEntry> published = new TreeMap<>();
        Flux.range(0, count)
                .flatMap(i -> (i % 2 == 0 ? directory : other).publish(advertisement(name + "/" + i, 3)), 8)
                .doOnNext(done -> published.put(done.entry().name(), done.entry()))
                .blockLast(Patience.BOUND);
        WatchLog log = closedLast(new WatchLog(other, name + "/"));
        DirectoryEvent.Snapshot snapshot = log.await(0, DirectoryEvent.Snapshot.class, any -> true);
        assertThat(snapshot.entries()).containsExactlyElementsOf(published.values());
    }

    /** If two engines publish a name at the same time, one has it with all its regions, and the other is notified. */
    @Test
    void ofTwoThatPublishAtOnceOneHasTheName() {
        Directory one = open(PATIENT.withLeaseTime(SAFE_LEASE));
        Directory two = open(PATIENT.withLeaseTime(SAFE_LEASE));
        Mono<Publication> first = one.publish(advertisement(name, 700));
        Mono<Publication> second = two.publish(advertisement(name, 900));
        List<Publication> both = get(Flux.merge(first, second).collectList());

        EngineListing listing = get(other.lookup(name));
        Publication winner = both.stream()
                .filter(p -> p.entry().isSameRun(listing.entry()))
                .findFirst()
                .orElseThrow();
        Publication loser =
                both.stream().filter(p -> !p.equals(winner)).findFirst().orElseThrow();
        assertThat(listing.regions()).hasSize(winner.entry().regionCount());
        assertFails(loser.ended(), NameTakenException.class);
        assertThat(get(other.lookup(name)).entry()).isEqualTo(listing.entry());
    }

    @Test
    void aLivingEngineStaysBeyondItsLease() {
        WatchLog log = closedLast(new WatchLog(other, name));
        ReactiveTransferEngine living = engine();
        living.allocate(64, RegionOptions.readWrite().named("pages"));
        get(open(PATIENT.withLeaseTime(SAFE_LEASE)).publish(Advertisement.of(name, living.engine())));
        log.awaitPresent(name, any -> true);
        Patience.pause(SAFE_LEASE.plusSeconds(1));
        get(other.find(name));
        get(other.lookupRegion(name, "pages"));
        assertThat(log.events()).noneMatch(DirectoryEvent.Removed.class::isInstance);
    }

    @Test
    @Tag("process")
    void aConnectionByNameFollowsTheEngine() {
        ReactiveTransferEngine engine = engine();
        List<ReactiveConnection> made = new CopyOnWriteArrayList<>();
        List<Throwable> errors = new CopyOnWriteArrayList<>();
        Disposable staying = NamedConnections.of(other, engine, ReconnectOptions.defaults())
                .connections(name)
                .subscribe(made::add, errors::add);
        closedLast(staying::dispose);

        ContractPublisher first = startPublisher(SHORT_LEASE);
        awaitConnection(made, first);
        assertCanWrite(engine, made.getLast());
        first.kill();
        ContractPublisher second = startPublisher(SAFE_LEASE);
        awaitConnection(made, second);
        assertCanWrite(engine, made.getLast());
        assertThat(errors).isEmpty();

        staying.dispose();
        Awaitility.await("the connection is closed with its Flux")
                .atMost(Patience.BOUND)
                .until(() -> engine.engine().connections().isEmpty());
        int count = made.size();
        second.kill();
        assertThat(made).hasSize(count);
    }

    private static void awaitConnection(List<ReactiveConnection> made, ContractPublisher publisher) {
        Awaitility.await("a connection to the new engine")
                .atMost(Patience.BOUND)
                .until(() -> !made.isEmpty() && made.getLast().connection().peerEpoch() == publisher.epoch());
    }

    private void assertCanWrite(ReactiveTransferEngine engine, ReactiveConnection connection) {
        RemoteRegion remote =
                get(connection.attach(get(whenThere(other.lookupRegion(name, ContractPublisher.REGION)))));
        MemoryRegion source = engine.allocate(4_096, RegionOptions.local());
        assertThat(get(connection.write(source, remote, 0))).isNotNull();
    }

    /** A stale descriptor fails with its own exception type, so that callers can look up the region again. */
    @Test
    void aDescriptorOfAnEarlierRunIsRefusedWithItsType() {
        ReactiveTransferEngine there = engine();
        ReactiveTransferEngine here = engine();
        MemoryRegion region = there.allocate(64, RegionOptions.readWrite().named("pages"));
        get(directory.publish(Advertisement.of(name, there.engine())));
        ReactiveConnection connection = get(
                NamedConnections.of(other, here, ReconnectOptions.defaults()).connect(name));
        RegionDescriptor found = get(other.lookupRegion(name, "pages"));
        assertThat(found).isEqualTo(region.descriptor());
        get(connection.attach(found));
        region.close().join();
        assertFails(connection.attach(found), StaleDescriptorException.class);
    }

    @Test
    void ranksOfATeamFindEachOther() {
        Directory[] directories = {directory, other, directory};
        List<CompletableFuture<Team>> forming = new ArrayList<>();
        for (int rank = 0; rank < directories.length; rank++) {
            forming.add(Team.form(
                    engine().engine(),
                    TeamOptions.rank(rank)
                            .of(directories.length)
                            .name("team of " + name)
                            .rendezvous(DirectoryRendezvous.in(directories[rank]))
                            .timeout(Patience.BOUND)
                            .formTimeout(Patience.BOUND)));
        }
        List<Team> teams = forming.stream().map(Patience::await).toList();
        assertThat(teams).extracting(Team::rank).containsExactly(0, 1, 2);
        WatchLog log = closedLast(new WatchLog(other, "sluice-team/"));
        DirectoryEvent.Snapshot left = log.await(0, DirectoryEvent.Snapshot.class, any -> true);
        assertThat(left.entries()).as("entries are withdrawn").isEmpty();
        teams.forEach(team -> Patience.await(team.closeAsync()));
    }
}
