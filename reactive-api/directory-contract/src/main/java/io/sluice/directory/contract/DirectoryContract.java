package io.sluice.directory.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryClosedException;
import io.sluice.directory.DirectoryEvent;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.DirectoryUnavailableException;
import io.sluice.directory.EngineEntry;
import io.sluice.directory.EngineListing;
import io.sluice.directory.EngineNotFoundException;
import io.sluice.directory.NameTakenException;
import io.sluice.directory.NamedConnections;
import io.sluice.directory.Publication;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.recovery.ReconnectOptions;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** The contract of every directory. One store serves all tests of a class; each has names of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway") // JUnit fills in the fields, and AssertJ checks what is read.
public abstract class DirectoryContract {
    private static final AtomicLong NUMBERS = new AtomicLong();
    /** The least: what dies is to be missed soon. What lives may be missed at moments, where a beat comes late. */
    private static final Duration SHORT_LEASE = Duration.ofSeconds(1);
    /** Of what must not be missed, though a busy machine may hold its beats up for most of it. */
    private static final Duration SAFE_LEASE = Patience.scaled(Duration.ofSeconds(3));

    /** Longer than any test, so that nothing in it disappears by expiry; a slow answer is as good as a quick one. */
    private static final DirectoryOptions PATIENT = PublisherProgram.options(Duration.ofHours(1))
            .withReconcileInterval(Duration.ofMillis(500))
            .withMaxBackoff(Duration.ofSeconds(1));
    /** For stores that are going to be silent. A slow answer counts as none, so what must succeed is tried again. */
    private static final DirectoryOptions IMPATIENT =
            PATIENT.withRequestTimeout(Patience.scaled(Duration.ofSeconds(1)));

    /** A directory that cannot be reached must say so, and not only hang for as long as a test may take. */
    private static final Duration SOON = Patience.BOUND.dividedBy(3);

    /** The time that 15,000 regions may take. */
    private static final long MOST_BYTES = 1_500_000;

    private DirectoryUnderTest store;
    private Directory directory;
    private Directory other;
    private String name;
    private final List<AutoCloseable> closedLast = new CopyOnWriteArrayList<>();

    /** Called by JUnit. */
    protected DirectoryContract() {}

    /**
     * Starts the store, or aborts the tests where it cannot be had.
     *
     * @return the store, empty
     */
    protected abstract DirectoryUnderTest startStore();

    @BeforeAll
    void start() {
        store = startStore();
    }

    @AfterAll
    void stop() {
        if (store != null) {
            store.close();
        }
    }

    @BeforeEach
    void open(TestInfo test) {
        name = "contract/" + test.getTestMethod().orElseThrow().getName() + "/" + NUMBERS.incrementAndGet();
        directory = store.open(PATIENT);
        other = store.open(PATIENT);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable resource : closedLast.reversed()) {
            resource.close();
        }
        closedLast.clear();
        directory.close().block(Patience.BOUND);
        other.close().block(Patience.BOUND);
    }

    private <T extends AutoCloseable> T closedLast(T resource) {
        closedLast.add(resource);
        return resource;
    }

    private Directory open(DirectoryOptions options) {
        Directory opened = store.open(options);
        closedLast(() -> opened.close().block(Patience.BOUND));
        return opened;
    }

    private ContractPublisher startPublisher(Duration lease) {
        return closedLast(store.startPublisher(name, lease));
    }

    private static Advertisement advertisement(String name, int regions) {
        EngineId engine = EngineId.random();
        long epoch = new Random().nextLong();
        return new Advertisement(
                name,
                new EngineAddress("127.0.0.1", 7_000, engine),
                epoch,
                ContractRegions.many(engine, epoch, regions));
    }

    private static <T> T get(Mono<T> mono) {
        T value = mono.block(Patience.BOUND);
        assertThat(value).isNotNull();
        return value;
    }

    private static <T> void assertFails(Mono<T> mono, Class<? extends Throwable> type) {
        assertThatThrownBy(() -> mono.block(Patience.BOUND)).isInstanceOf(type);
    }

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
        // Its next beat tells it; so its lease must be short.
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
    void aKilledEngineDisappears() {
        WatchLog log = closedLast(new WatchLog(other, name));
        ContractPublisher publisher = startPublisher(SHORT_LEASE);
        log.awaitPresent(name, entry -> entry.address().equals(publisher.address()));
        publisher.kill();
        log.awaitAbsent(name);
        assertGone(other.find(name));
        assertGone(other.lookup(name));
    }

    /** No event reports it: what is not in the snapshot that follows an interruption is gone. */
    @Test
    void anEngineThatIsKilledWhileTheDirectoryDoesNotAnswerDisappears() {
        assumeTrue(store.canBeInterrupted(), "this store cannot be interrupted");
        WatchLog log = closedLast(new WatchLog(open(IMPATIENT), name));
        ContractPublisher publisher = startPublisher(SHORT_LEASE);
        log.awaitPresent(name, entry -> entry.address().equals(publisher.address()));
        // A part of the store may be alive, and these names may all lie in that part.
        for (int i = 0; i < 16; i++) {
            get(directory.publish(advertisement(name + "/" + i, 1)));
        }
        int before = log.size();
        store.interrupt();
        try {
            log.await(before, DirectoryEvent.Interrupted.class, any -> true);
            publisher.kill();
        } finally {
            store.resume();
        }
        log.awaitAbsent(name);
        assertGone(other.find(name));
    }

    /** A store may be a cluster that the killed process was a member of, and take a while to answer again. */
    private static void assertGone(Mono<?> lookUp) {
        Awaitility.await("it is gone")
                .atMost(Patience.BOUND)
                .ignoreExceptionsInstanceOf(DirectoryUnavailableException.class)
                .until(() -> lookUp.map(found -> false)
                        .onErrorReturn(EngineNotFoundException.class, true)
                        .block(Patience.BOUND));
    }

    private static <T> Mono<T> eventually(Mono<T> request) {
        return again(request, DirectoryUnavailableException.class);
    }

    /** With a short lease it may be missed at moments. */
    private static <T> Mono<T> whenThere(Mono<T> lookUp) {
        return again(again(lookUp, DirectoryUnavailableException.class), EngineNotFoundException.class);
    }

    private static <T> Mono<T> again(Mono<T> request, Class<? extends Throwable> after) {
        return request.retryWhen(
                        Retry.fixedDelay(Long.MAX_VALUE, Duration.ofMillis(100)).filter(after::isInstance))
                .timeout(Patience.BOUND);
    }

    @Test
    void aLivingEngineStaysBeyondItsLease() {
        WatchLog log = closedLast(new WatchLog(other, name));
        startPublisher(SAFE_LEASE);
        log.awaitPresent(name, any -> true);
        Patience.pause(SAFE_LEASE.plusSeconds(2));
        get(other.find(name));
        get(other.lookupRegion(name, ContractPublisher.REGION));
        assertThat(log.events()).noneMatch(DirectoryEvent.Removed.class::isInstance);
    }

    @Test
    void aRestartHasANewEpochAndTheOldEntryIsNeverUsed() {
        ContractPublisher first = startPublisher(SHORT_LEASE);
        WatchLog log = closedLast(new WatchLog(other, name));
        log.awaitPresent(name, entry -> entry.epoch() == first.epoch());
        RegionDescriptor old = get(whenThere(other.lookupRegion(name, ContractPublisher.REGION)));
        first.kill();
        ContractPublisher second = startPublisher(SAFE_LEASE);
        assertThat(second.epoch()).isNotEqualTo(first.epoch());

        Awaitility.await()
                .atMost(Patience.BOUND)
                .until(() -> get(eventually(other.find(name))).epoch() == second.epoch());
        // However often it is read, until long after the first lease has expired.
        Set<Long> epochs = ConcurrentHashMap.newKeySet();
        Awaitility.await()
                .during(SHORT_LEASE.multipliedBy(3))
                .atMost(Patience.BOUND)
                .until(() -> {
                    epochs.add(get(eventually(other.find(name))).epoch());
                    epochs.add(get(eventually(other.lookupRegion(name, ContractPublisher.REGION)))
                            .epoch());
                    return true;
                });
        assertThat(epochs).containsExactly(second.epoch());
        log.awaitPresent(name, entry -> entry.epoch() == second.epoch());

        ReactiveTransferEngine engine = engine();
        ReactiveConnection connection = get(
                NamedConnections.of(other, engine, ReconnectOptions.defaults()).connect(name));
        assertThat(connection.connection().peerEpoch()).isEqualTo(second.epoch());
        assertThatThrownBy(() -> connection.attach(old).block(Patience.BOUND)).isInstanceOf(SluiceException.class);
        assertThat(get(connection.attach(get(eventually(other.lookupRegion(name, ContractPublisher.REGION))))))
                .isNotNull();
    }

    @Test
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

    private ReactiveTransferEngine engine() {
        // None of its peers falls silent: those that die hang up.
        ReactiveTransferEngine engine = ReactiveTransferEngine.open(EngineOptions.builder()
                .livenessTimeout(Patience.BOUND)
                .connectTimeout(Patience.BOUND)
                .build());
        closedLast(() -> engine.close().block(Patience.BOUND));
        return engine;
    }

    private void assertCanWrite(ReactiveTransferEngine engine, ReactiveConnection connection) {
        RemoteRegion remote =
                get(connection.attach(get(whenThere(other.lookupRegion(name, ContractPublisher.REGION)))));
        MemoryRegion source = engine.allocate(4_096, RegionOptions.local());
        assertThat(get(connection.write(source, remote, 0))).isNotNull();
    }

    @Test
    void aDirectoryThatDoesNotAnswerFailsLookUpsAndNothingElse() {
        assumeTrue(store.canBeInterrupted(), "this store cannot be interrupted");
        List<String> names =
                IntStream.range(0, 16).mapToObj(i -> name + "/" + i).toList();
        Publication publication = get(directory.publish(advertisement(names.getFirst(), 3)));
        for (String each : names.subList(1, names.size())) {
            get(directory.publish(advertisement(each, 1)));
        }
        Directory impatient = open(IMPATIENT);
        WatchLog log = closedLast(new WatchLog(impatient, name + "/"));
        log.await(0, DirectoryEvent.Snapshot.class, event -> event.entries().size() == names.size());

        Traffic traffic = closedLast(Traffic.between(engine(), engine()));
        int before = log.size();
        store.interrupt();
        try {
            assertLookUpsFail(impatient, names);
            log.await(before, DirectoryEvent.Interrupted.class, any -> true);
            traffic.goesOn();
        } finally {
            store.resume();
        }
        DirectoryEvent.Snapshot snapshot = log.await(
                before, DirectoryEvent.Snapshot.class, event -> event.entries().size() == names.size());
        assertThat(snapshot.entries()).extracting(EngineEntry::name).containsExactlyInAnyOrderElementsOf(names);
        awaitFound(names.getFirst());
        EngineEntry entry = publication.entry();
        Awaitility.await("the publication can be changed again")
                .atMost(Patience.BOUND)
                .ignoreExceptionsInstanceOf(DirectoryUnavailableException.class)
                .until(() -> publication
                                .update(ContractRegions.many(entry.engineId(), entry.epoch(), 4))
                                .block(Patience.BOUND)
                        != null);
        log.awaitPresent(names.getFirst(), found -> found.regionCount() == 4);
        assertThat(traffic.errors()).isEmpty();
    }

    /** Each within its time, and with the one type; a part of the store may be alive. */
    private static void assertLookUpsFail(Directory impatient, List<String> names) {
        List<Throwable> failures = get(Flux.fromIterable(names)
                .flatMap(
                        each -> impatient
                                .find(each)
                                .timeout(SOON)
                                .then(Mono.<Throwable>empty())
                                .onErrorResume(Mono::just),
                        names.size())
                .collectList());
        assertThat(failures)
                .isNotEmpty()
                .allSatisfy(failure -> assertThat(failure).isInstanceOf(DirectoryUnavailableException.class));
    }

    @Test
    void aDirectoryThatIsGoneForLongerThanALeaseFailsLookUpsAndNothingElse() throws InterruptedException {
        assumeTrue(store.canBeStopped(), "this store cannot be stopped");
        Directory publishing = open(IMPATIENT.withLeaseTime(SHORT_LEASE));
        Publication publication = get(eventually(publishing.publish(advertisement(name, 300))));
        Directory impatient = open(IMPATIENT);
        WatchLog log = closedLast(new WatchLog(impatient, name));
        log.awaitPresent(name, any -> true);
        Traffic traffic = closedLast(Traffic.between(engine(), engine()));

        int before = log.size();
        store.stop();
        try {
            assertLookUpsFail(impatient, List.of(name));
            assertFails(publication.update(new TreeMap<>()), DirectoryUnavailableException.class);
            log.await(before, DirectoryEvent.Interrupted.class, any -> true);
            Thread.sleep(SHORT_LEASE.multipliedBy(2));
            assertLookUpsFail(impatient, List.of(name));
            traffic.goesOn();
        } finally {
            store.startEmpty();
        }

        // Its publisher is alive, and puts it back.
        awaitFound(name);
        Awaitility.await("the watch knows of it")
                .atMost(Patience.BOUND)
                .until(() -> log.events().stream().skip(before).anyMatch(event -> tells(event, name)));
        traffic.goesOn();
        assertThat(traffic.errors()).isEmpty();
    }

    private void awaitFound(String wanted) {
        Awaitility.await("look-ups recover")
                .atMost(Patience.BOUND)
                .ignoreExceptionsInstanceOf(SluiceException.class)
                .until(() -> get(other.find(wanted)).name().equals(wanted));
    }

    @Test
    void whatAStoreHasLostIsPublishedAnew() {
        assumeTrue(store.canBeStopped(), "this store cannot be stopped");
        Directory publishing = open(IMPATIENT.withLeaseTime(SHORT_LEASE));
        Advertisement advertised = advertisement(name, 2_000);
        get(eventually(publishing.publish(advertised)));
        WatchLog log = closedLast(new WatchLog(open(IMPATIENT), name));
        log.awaitPresent(name, any -> true);
        int before = log.size();

        store.stop();
        store.startEmpty();

        awaitFound(name);
        assertThat(get(whenThere(other.lookup(name))).regions()).isEqualTo(advertised.regions());
        Awaitility.await("the watch knows of it")
                .atMost(Patience.BOUND)
                .until(() -> log.events().stream().skip(before).anyMatch(event -> tells(event, name)));
    }

    private static boolean tells(DirectoryEvent event, String name) {
        return switch (event) {
            case DirectoryEvent.Snapshot snapshot ->
                snapshot.entries().stream().anyMatch(entry -> entry.name().equals(name));
            case DirectoryEvent.Published published -> published.entry().name().equals(name);
            case DirectoryEvent.Changed changed -> changed.entry().name().equals(name);
            default -> false;
        };
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

    /** Two engines that publish one name at one instant: one has it, whole, and the other hears so. */
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

    /** That a stale descriptor has a type of its own is what the message of a look-up can be built on. */
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
}
