package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Scannable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.util.RaceTestUtils;

class ControlOperationsTest {
    private static final Duration LIMIT = Patience.BOUND;
    private static final RegionDescriptor DESCRIPTOR =
            new RegionDescriptor(new EngineId(1, 2), 3, 4, 5, MemoryKind.values()[0], Set.of(), 0, 64);

    private final FakeConnection connection = FakeConnection.manual();
    private final ReactiveConnection reactive = ReactiveConnection.from(connection);

    @AfterEach
    void resetHooks() {
        Hooks.resetOnErrorDropped();
    }

    @Test
    void attachGivesTheRegion() {
        RemoteRegion region = connection.remote();
        StepVerifier.create(reactive.attach(DESCRIPTOR))
                .then(() -> connection.attached.complete(region))
                .expectNext(region)
                .expectComplete()
                .verify(LIMIT);
        StepVerifier.create(reactive.attach(List.of(DESCRIPTOR)))
                .expectNext(List.of(region))
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void nothingIsAskedOfThePeerBeforeDemandAndEachSubscriberAsks() {
        Mono<RemoteRegion> attach = reactive.attach(DESCRIPTOR);
        RecordingSubscriber<RemoteRegion> subscriber = new RecordingSubscriber<>();
        attach.subscribe(subscriber);
        assertThat(connection.attaches).hasValue(0);
        subscriber.subscription.request(1);
        attach.subscribe();
        assertThat(connection.attaches).hasValue(2);
    }

    @Test
    void errorsComeWithoutTheirWrapping() {
        StaleDescriptorException stale = new StaleDescriptorException("an earlier run's");
        connection.attached.completeExceptionally(new CompletionException(stale));
        StepVerifier.create(reactive.attach(DESCRIPTOR))
                .expectErrorSatisfies(error -> assertThat(error).isSameAs(stale))
                .verify(LIMIT);
        StepVerifier.create(reactive.attach(List.of(DESCRIPTOR)))
                .expectErrorSatisfies(error -> assertThat(error).isSameAs(stale))
                .verify(LIMIT);
        connection.found.completeExceptionally(new RegionNotFoundException("blocks"));
        StepVerifier.create(reactive.lookup("blocks"))
                .expectError(RegionNotFoundException.class)
                .verify(LIMIT);
    }

    @Test
    void operationsWithoutAValueComplete() {
        connection.detached.complete(null);
        connection.quiesced.complete(null);
        connection.ended.complete(null);
        connection.closed.complete(null);
        connection.found.complete(DESCRIPTOR);
        StepVerifier.create(reactive.detach(connection.remote()))
                .expectComplete()
                .verify(LIMIT);
        StepVerifier.create(reactive.quiesced()).expectComplete().verify(LIMIT);
        StepVerifier.create(reactive.ended()).expectComplete().verify(LIMIT);
        StepVerifier.create(reactive.close()).expectComplete().verify(LIMIT);
        StepVerifier.create(reactive.lookup("blocks"))
                .expectNext(DESCRIPTOR)
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void aCancelLeavesTheSharedFutureAlone() {
        reactive.ended().subscribe().dispose();
        reactive.close().subscribe().dispose();
        assertThat(connection.ended).isNotCancelled();
        assertThat(connection.closed).isNotCancelled();
        assertThat(connection.closes).hasValue(1);
    }

    @Test
    void aShutdownBeginsWhenItIsSubscribed() {
        Mono<Void> shutdown = reactive.shutdown(Duration.ofSeconds(1));
        assertThat(connection.shutdowns).hasValue(0);
        connection.closed.complete(null);
        StepVerifier.create(shutdown).verifyComplete();
        assertThat(connection.shutdowns).hasValue(1);
    }

    @Test
    void aRegionThatIsAttachedAfterACancelIsDetachedAgain() {
        List<Object> discarded = new ArrayList<>();
        RecordingSubscriber<RemoteRegion> subscriber = new RecordingSubscriber<>();
        reactive.attach(DESCRIPTOR)
                .doOnDiscard(RemoteRegion.class, discarded::add)
                .subscribe(subscriber);
        reactive.attach(List.of(DESCRIPTOR)).subscribe().dispose();
        subscriber.subscription.request(1);
        subscriber.subscription.cancel();
        assertThat(connection.detaches).hasValue(0);
        connection.attached.complete(connection.remote());
        assertThat(connection.detaches).hasValue(2);
        assertThat(discarded).hasSize(1);
        assertThat(subscriber.items).isEmpty();
    }

    @Test
    void anErrorAfterACancelGoesToTheHook() {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        reactive.quiesced().subscribe().dispose();
        ConnectionLostException lost = new ConnectionLostException("lost");
        connection.quiesced.completeExceptionally(lost);
        assertThat(dropped).containsExactly(lost);
    }

    @Test
    void aValueAgainstACancelIsTakenOrGivenBack() {
        int rounds = "soak".equals(System.getProperty("sluice.test.profile")) ? 20_000 : 800;
        for (int round = 0; round < rounds; round++) {
            FakeConnection racing = FakeConnection.manual();
            RecordingSubscriber<RemoteRegion> subscriber = new RecordingSubscriber<>();
            ReactiveConnection.from(racing).attach(DESCRIPTOR).subscribe(subscriber);
            subscriber.subscription.request(1);
            RaceTestUtils.race(() -> racing.attached.complete(racing.remote()), subscriber.subscription::cancel);
            assertThat(subscriber.breaches).isEmpty();
            // a subscriber that takes what comes though it has cancelled sees a region that is detached
            assertThat(subscriber.items.size() + racing.detaches.get()).isBetween(1, 2);
            assertThat(subscriber.completions.get() + racing.detaches.get()).isEqualTo(1);
        }
    }

    @Test
    void itCanBeScanned() {
        assertThat(Scannable.from(reactive.quiesced()).stepName()).isEqualTo("quiesced");
        assertThat(reactive).hasToString("ReactiveConnection[1 to " + connection.peer() + "]");
        assertThat(reactive.connection()).isSameAs(connection);
    }
}
