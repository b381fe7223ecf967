package io.sluice.directory.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryEvent;
import io.sluice.directory.DirectoryUnavailableException;
import io.sluice.directory.EngineEntry;
import io.sluice.directory.EngineNotFoundException;
import io.sluice.directory.NamedConnections;
import io.sluice.directory.Publication;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.SluiceException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.recovery.ReconnectOptions;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The contract of every directory whose engines die, and whose store does not answer or loses its contents. Apart from
 * {@link DirectoryContract}, as both mostly wait and can do so at the same time.
 */
@SuppressWarnings("NullAway") // AssertJ checks what is read.
public abstract class DirectoryFailureContract extends DirectoryFixture {
    /** An unreachable directory must fail a request within this time, well before the bound of a test. */
    private static final Duration SOON = Patience.BOUND.dividedBy(3);

    /** Called by JUnit. */
    protected DirectoryFailureContract() {}

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

    /** No event reports the removal of an entry during an interruption: it is missing in the next snapshot. */
    @Test
    @Tag("process")
    void anEngineThatIsKilledWhileTheDirectoryDoesNotAnswerDisappears() {
        assumeTrue(store.canBeInterrupted(), "this store cannot be interrupted");
        WatchLog log = closedLast(new WatchLog(open(IMPATIENT), name));
        ContractPublisher publisher = startPublisher(SHORT_LEASE);
        log.awaitPresent(name, entry -> entry.address().equals(publisher.address()));
        // A part of a store may be alive, and these names may all belong to that part.
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

    /** A store may be a cluster with the killed process as a member, and take a while to answer again. */
    private static void assertGone(Mono<?> lookUp) {
        Awaitility.await("it is gone")
                .atMost(Patience.BOUND)
                .ignoreExceptionsInstanceOf(DirectoryUnavailableException.class)
                .until(() -> lookUp.map(found -> false)
                        .onErrorReturn(EngineNotFoundException.class, true)
                        .block(Patience.BOUND));
    }

    @Test
    @Tag("process")
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
    void aDirectoryThatDoesNotAnswerFailsLookUpsAndNothingElse() {
        assumeTrue(store.canBeInterrupted(), "this store cannot be interrupted");
        List<String> names =
                IntStream.range(0, 16).mapToObj(i -> name + "/" + i).toList();
        // its beats must not wait for answers for as long as the others'
        Directory publishing = open(IMPATIENT);
        Publication publication = get(eventually(publishing.publish(advertisement(names.getFirst(), 3))));
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

    /** Each fails within its time and with the same type; a part of the store may be alive. */
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

        // Its publisher is alive and stores it again.
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
}
