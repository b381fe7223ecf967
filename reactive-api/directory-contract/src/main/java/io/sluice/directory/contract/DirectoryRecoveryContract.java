package io.sluice.directory.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.EngineEntry;
import io.sluice.directory.EngineNotFoundException;
import io.sluice.directory.Publication;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * The recovery time of a directory in a server: within five seconds of the server, for any kind and length of
 * connection loss. For each directory, look-ups, a publication with its lease, and a watch must recover.
 */
@SuppressWarnings("NullAway") // JUnit fills in the fields, and AssertJ checks what is read.
public abstract class DirectoryRecoveryContract extends StoreFixture {
    /**
     * The promise is five seconds with default options; twice that here, because a busy machine may delay several of
     * the steps.
     */
    private static final Duration BACK = Patience.scaled(Duration.ofSeconds(10));

    /** A busy machine may delay one round, but not every one. */
    private static final int ROUNDS = 3;

    /** Longer than the shortest lease after rounding by stores, so that the entry has expired. */
    private static final Duration AWAY = Duration.ofSeconds(3);

    private static final Duration LONG_AWAY = Duration.ofMinutes(5);
    private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);
    private static final int REGIONS = 3;

    private Wire wire;
    /** Reaches the store through the wire. */
    private Directory behind;
    /** Reaches the store directly, with a lease that outlasts any test. */
    private Directory direct;

    private WatchLog log;
    private Publication publication;
    private String name;

    /** Called by JUnit. */
    protected DirectoryRecoveryContract() {}

    /**
     * Starts the store, which has a {@link DirectoryUnderTest#port()}, or aborts the tests where it is not available.
     *
     * @return the empty store
     */
    @Override
    protected abstract DirectoryUnderTest startStore();

    @BeforeEach
    void open(TestInfo test) {
        name = uniqueName("recovery", test);
        wire = new Wire(store.port().orElseThrow());
        behind = store.openAt(wire.port(), DirectoryOptions.defaults().withLeaseTime(SHORTEST_LEASE));
        direct = store.open(DirectoryOptions.defaults().withLeaseTime(Duration.ofHours(1)));
        publication = again(behind.publish(advertisement(name + "/behind", REGIONS)));
        log = new WatchLog(behind, name + "/");
        log.awaitPresent(name + "/behind", any -> true);
    }

    @AfterEach
    void close() {
        log.close();
        wire.open();
        behind.close().block(Patience.BOUND);
        direct.close().block(Patience.BOUND);
        wire.close();
    }

    /** Retries until there is an answer, as a client would. */
    private static <T> T again(Mono<T> request) {
        T answer = request.retryWhen(Retry.fixedDelay(Long.MAX_VALUE, Duration.ofMillis(50)))
                .block(Patience.BOUND);
        assertThat(answer).isNotNull();
        return answer;
    }

    /** The network has lost the connections, but both ends consider them open. New ones may be lost, too. */
    @Test
    void aDirectoryWhoseConnectionsFallSilentMakesOthers() {
        for (String time : List.of("first", "second")) {
            int before = wire.carried();
            isBack("silent connections, for the " + time + " time", wire::silence);
            assertThat(wire.carried()).as("connections").isGreaterThan(before);
        }
    }

    @Test
    void aDirectoryIsBackSoonAfterItsStoreWasCutOff() {
        cutOff(AWAY);
    }

    @Test
    void aDirectoryIsBackSoonAfterItsStoreRefused() {
        refuse(AWAY);
    }

    @Test
    void aDirectoryIsBackSoonAfterItsStoreWasStopped() {
        stopStore(AWAY);
    }

    @Test
    @Tag("soak")
    void aDirectoryIsBackSoonAfterItsStoreWasCutOffForMinutes() {
        cutOff(LONG_AWAY);
    }

    @Test
    @Tag("soak")
    void aDirectoryIsBackSoonAfterItsStoreRefusedForMinutes() {
        refuse(LONG_AWAY);
    }

    @Test
    @Tag("soak")
    void aDirectoryIsBackSoonAfterItsStoreWasStoppedForMinutes() {
        stopStore(LONG_AWAY);
    }

    private void cutOff(Duration away) {
        isBack("cut off for " + away, () -> {
            wire.swallow();
            Patience.pause(away);
            awaitExpired();
            wire.open();
        });
    }

    private void refuse(Duration away) {
        isBack("refused for " + away, () -> {
            wire.refuse();
            Patience.pause(away);
            awaitExpired();
            wire.open();
        });
    }

    private void stopStore(Duration away) {
        isBack("stopped for " + away, () -> {
            store.stop();
            Patience.pause(away);
            store.startEmpty();
        });
    }

    private void awaitExpired() {
        Patience.until(
                "the lease has expired",
                () -> direct.find(name + "/behind")
                        .map(found -> false)
                        .onErrorReturn(EngineNotFoundException.class, true)
                        .onErrorReturn(false)
                        .block(Patience.BOUND));
    }

    /** All must recover in time in at least one round. */
    private void isBack(String what, Runnable outage) {
        List<String> late;
        int rounds = 0;
        do {
            outage.run();
            late = lateAfter(what);
            rounds++;
        } while (!late.isEmpty() && rounds < ROUNDS);
        assertThat(late).as("late after %s, in each of %d rounds", what, rounds).isEmpty();
    }

    /** The clock starts here. Each recovers on its own thread, so that none helps another. */
    private List<String> lateAfter(String what) {
        long start = System.nanoTime();
        String other = "/other/" + NUMBERS.incrementAndGet();
        List<String> times = new CopyOnWriteArrayList<>();
        List<String> late = new CopyOnWriteArrayList<>();
        again(direct.publish(advertisement(name + other, REGIONS)));
        CompletableFuture.allOf(
                        timed(times, late, start, "look-up", () -> again(behind.find(name + other))),
                        timed(times, late, start, "lease", () -> again(direct.find(name + "/behind"))),
                        timed(times, late, start, "watch", () -> log.awaitPresent(name + other, any -> true)),
                        timed(times, late, start, "update", this::update))
                .join();
        System.out.println(getClass().getSimpleName() + ": back after " + what + ": " + String.join(", ", times));
        return late;
    }

    private void update() {
        EngineEntry entry = publication.entry();
        int regions = entry.regionCount() + 1;
        again(Mono.defer(() -> publication.update(ContractRegions.many(entry.engineId(), entry.epoch(), regions))));
        Patience.until(
                "others see the update",
                () -> again(direct.find(name + "/behind")).regionCount() == regions);
    }

    private static CompletableFuture<Void> timed(
            List<String> times, List<String> late, long start, String what, Runnable action) {
        return CompletableFuture.runAsync(
                () -> {
                    action.run();
                    Duration took = Duration.ofNanos(System.nanoTime() - start);
                    times.add(what + " " + took.toMillis() + " ms");
                    if (took.compareTo(BACK) >= 0) {
                        late.add(what + " " + took.toMillis() + " ms");
                    }
                },
                task -> Thread.ofVirtual().start(task));
    }
}
