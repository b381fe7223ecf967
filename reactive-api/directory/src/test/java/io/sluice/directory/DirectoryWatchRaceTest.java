package io.sluice.directory;

import static io.sluice.testkit.Patience.BOUND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Hooks;
import reactor.test.util.RaceTestUtils;

/** Each pair of events that may meet in a watch, many times. */
@Tag("race")
class DirectoryWatchRaceTest {
    private static final int ROUNDS = 300;
    private static final int LOSSES = 60;
    private static final String NAME = "decode/7";

    /** Nothing is read again by itself, so that what a race loses stays lost. */
    private static final DirectoryOptions OPTIONS = DirectoryOptions.defaults()
            .withRequestTimeout(BOUND)
            .withReconcileInterval(Duration.ofHours(1))
            .withMaxBackoff(Duration.ofMillis(100));

    private final HandDrivenStore store = new HandDrivenStore();
    private final Directory directory = Directory.over(store, OPTIONS);

    /** The store's own: it fails hints without a listener. */
    @BeforeEach
    void dropErrors() {
        Hooks.onErrorDropped(error -> {});
    }

    @AfterEach
    void resetHooks() {
        Hooks.resetOnErrorDropped();
    }

    /** Asks when the test does, and counts two signals at a time. */
    private static final class Watcher implements CoreSubscriber<DirectoryEvent> {
        final List<DirectoryEvent> events = new CopyOnWriteArrayList<>();
        final AtomicInteger breaches = new AtomicInteger();
        final AtomicInteger terminals = new AtomicInteger();
        private final AtomicInteger inside = new AtomicInteger();
        volatile Subscription subscription;

        @Override
        public void onSubscribe(Subscription given) {
            subscription = given;
        }

        @Override
        public void onNext(DirectoryEvent event) {
            if (inside.incrementAndGet() != 1) {
                breaches.incrementAndGet();
            }
            events.add(event);
            inside.decrementAndGet();
        }

        @Override
        public void onError(Throwable error) {
            terminals.incrementAndGet();
        }

        @Override
        public void onComplete() {
            terminals.incrementAndGet();
        }

        void awaitEvents(int count) {
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofNanos(50_000))
                    .atMost(BOUND)
                    .until(() -> events.size() >= count);
        }
    }

    private Watcher watching(long demand) {
        Watcher watcher = new Watcher();
        directory.watch(NAME).subscribe(watcher);
        if (demand > 0) {
            watcher.subscription.request(demand);
        }
        return watcher;
    }

    @Test
    void aRequestAgainstAChange() {
        Watcher watcher = watching(1);
        watcher.awaitEvents(1);
        for (int round = 1; round <= ROUNDS; round++) {
            EngineEntry entry = HandDrivenStore.entry(NAME, round);
            RaceTestUtils.race(() -> store.publish(entry), () -> watcher.subscription.request(1));
            watcher.awaitEvents(round + 1);
            assertThat(told(watcher.events.get(round))).isEqualTo(entry);
        }
        assertThat(watcher.events).hasSize(ROUNDS + 1);
        assertThat(watcher.breaches).hasValue(0);
        watcher.subscription.cancel();
    }

    @Test
    void aRequestAgainstARequest() {
        Watcher watcher = watching(1);
        watcher.awaitEvents(1);
        for (int round = 0; round < ROUNDS; round++) {
            EngineEntry first = HandDrivenStore.entry(NAME, 2L * round + 1);
            EngineEntry second = HandDrivenStore.entry(NAME, 2L * round + 2);
            RaceTestUtils.race(() -> watcher.subscription.request(1), () -> watcher.subscription.request(1));
            store.publish(first);
            watcher.awaitEvents(2 * round + 2);
            store.publish(second);
            watcher.awaitEvents(2 * round + 3);
        }
        assertThat(watcher.events).hasSize(2 * ROUNDS + 1);
        assertThat(watcher.breaches).hasValue(0);
        watcher.subscription.cancel();
    }

    /** Of concurrent changes the last state is reported in the end, from any thread. */
    @Test
    void aChangeAgainstAChange() {
        Watcher watcher = watching(Long.MAX_VALUE);
        watcher.awaitEvents(1);
        for (int round = 0; round < ROUNDS; round++) {
            EngineEntry one = HandDrivenStore.entry(NAME, 2L * round + 1);
            EngineEntry other = HandDrivenStore.entry(NAME, 2L * round + 2);
            RaceTestUtils.race(() -> store.publish(one), () -> store.publish(other));
            EngineEntry last = directory.find(NAME).blockOptional(BOUND).orElseThrow();
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofNanos(50_000))
                    .atMost(BOUND)
                    .until(() -> last.equals(told(watcher.events.getLast())));
        }
        assertThat(watcher.breaches).hasValue(0);
        watcher.subscription.cancel();
    }

    @Test
    void aChangeAgainstACancel() {
        List<Watcher> watchers = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            EngineEntry entry = HandDrivenStore.entry(NAME, round + 1L);
            Watcher watcher = watching(Long.MAX_VALUE);
            RaceTestUtils.race(() -> store.publish(entry), () -> watcher.subscription.cancel());
            watchers.add(watcher);
        }
        await().atMost(BOUND).until(() -> store.listeners() == 0);
        List<Integer> seen =
                watchers.stream().map(watcher -> watcher.events.size()).toList();
        store.publish(HandDrivenStore.entry(NAME, ROUNDS + 1L));
        await().during(Duration.ofMillis(200))
                .atMost(BOUND)
                .until(() -> watchers.stream()
                        .map(watcher -> watcher.events.size())
                        .toList()
                        .equals(seen));
        assertThat(watchers).allSatisfy(watcher -> {
            assertThat(watcher.breaches).hasValue(0);
            assertThat(watcher.terminals).hasValue(0);
        });
    }

    /** Each learns of the interruption once, and of the changes meanwhile; none is established twice. */
    @Test
    void aLossAgainstAChange() {
        store.put(HandDrivenStore.entry(NAME, 1));
        List<Watcher> watchers = new ArrayList<>();
        for (int i = 0; i < LOSSES; i++) {
            watchers.add(watching(Long.MAX_VALUE));
        }
        for (int round = 2; round <= 6; round++) {
            EngineEntry entry = HandDrivenStore.entry(NAME, round);
            await().atMost(BOUND).until(() -> store.listeners() == LOSSES);
            RaceTestUtils.race(store::lose, () -> store.publish(entry));
            await().atMost(BOUND)
                    .until(() -> watchers.stream().allMatch(watcher -> entry.equals(told(watcher.events.getLast()))));
        }
        await().atMost(BOUND).until(() -> store.listeners() == LOSSES);
        assertThat(watchers).allSatisfy(watcher -> assertThat(watcher.breaches).hasValue(0));
        watchers.forEach(watcher -> watcher.subscription.cancel());
        await().atMost(BOUND).until(() -> store.listeners() == 0);
    }

    /** A watch that is cancelled while it is lost does not come back. */
    @Test
    void aLossAgainstACancel() {
        List<Watcher> watchers = new ArrayList<>();
        for (int round = 0; round < LOSSES; round++) {
            Watcher watcher = watching(Long.MAX_VALUE);
            watcher.awaitEvents(1);
            RaceTestUtils.race(store::lose, () -> watcher.subscription.cancel());
            watchers.add(watcher);
        }
        await().during(OPTIONS.maxBackoff().multipliedBy(4)).atMost(BOUND).until(() -> store.listeners() == 0);
        assertThat(watchers).allSatisfy(watcher -> assertThat(watcher.breaches).hasValue(0));
    }

    private static EngineEntry told(DirectoryEvent event) {
        return switch (event) {
            case DirectoryEvent.Snapshot snapshot ->
                snapshot.entries().isEmpty() ? null : snapshot.entries().getFirst();
            case DirectoryEvent.Published published -> published.entry();
            case DirectoryEvent.Changed changed -> changed.entry();
            default -> null;
        };
    }
}
