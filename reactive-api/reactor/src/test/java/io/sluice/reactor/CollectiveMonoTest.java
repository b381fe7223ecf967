package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** When a collective is called, and what comes of a cancel; without a team. */
class CollectiveMonoTest {
    private static final Duration LIMIT = Patience.BOUND;

    private final List<FakeCollective> called = new ArrayList<>();
    private final AbandonedCalls abandoned = new AbandonedCalls();
    private final Mono<Collective> collective =
            new CollectiveMono<Collective>("barrier", this::call, abandoned).assembled();

    @AfterEach
    void resetHooks() {
        // which verifyThenAssertThat has reset
        ResourceSubscription.watchDroppedValues();
    }

    private FakeCollective call(CollectiveCallback callback) {
        FakeCollective made = new FakeCollective(callback, 100);
        called.add(made);
        return made;
    }

    @Test
    void itIsCalledForEachSubscriberThatRequests() {
        StepVerifier.create(collective, 0)
                .then(() -> assertThat(called).isEmpty())
                .thenRequest(1)
                .then(() -> called.getFirst().succeed())
                .expectNextCount(1)
                .expectComplete()
                .verify(LIMIT);
        StepVerifier.create(collective)
                .then(() -> called.getLast().fail(new TeamRevokedException("a test")))
                .expectError(TeamRevokedException.class)
                .verify(LIMIT);
        assertThat(called).hasSize(2);
    }

    @Test
    void aCancelBeforeTheRequestPreventsTheCall() {
        StepVerifier.create(collective, 0).thenCancel().verify(LIMIT);
        assertThat(called).isEmpty();
        assertThat(abandoned.ended()).isCompleted();
    }

    @Test
    void aCancelledOneIsAwaitedUntilItHasEnded() {
        StepVerifier.create(collective).thenAwait().thenCancel().verify(LIMIT);
        var quiesced = abandoned.ended();
        assertThat(quiesced).isNotDone();
        called.getFirst().succeed();
        assertThat(quiesced).isCompleted();
        assertThat(abandoned.ended()).isCompleted();
    }

    @Test
    void anErrorAfterTheCancelIsDropped() {
        StepVerifier.create(collective)
                .thenAwait()
                .thenCancel()
                .verifyThenAssertThat(LIMIT)
                .hasNotDroppedErrors();
        StepVerifier.create(Mono.defer(() -> {
                    called.getFirst().fail(new TeamRevokedException("a test"));
                    return Mono.empty();
                }))
                .expectComplete()
                .verifyThenAssertThat(LIMIT)
                .hasDroppedErrorOfType(TeamRevokedException.class);
        assertThat(abandoned.ended()).isCompleted();
    }

    @Test
    void progressIsConflatedUntilItIsRequested() {
        StepVerifier.withVirtualTime(() -> progress(), 1)
                .expectSubscription()
                .then(() -> called.getFirst().process(10))
                .thenAwait(Duration.ofSeconds(1))
                .expectNext(new CollectiveProgress(10, 100))
                .then(() -> called.getFirst().process(20))
                .thenAwait(Duration.ofSeconds(1))
                .then(() -> called.getFirst().process(30))
                .thenAwait(Duration.ofSeconds(1))
                .thenRequest(1)
                .expectNext(new CollectiveProgress(30, 100))
                .then(() -> called.getFirst().succeed())
                .thenRequest(1)
                .expectNext(new CollectiveProgress(100, 100))
                .expectComplete()
                .verify(LIMIT);
    }

    @Test
    void progressFailsWithTheCollective() {
        StepVerifier.create(progress())
                .then(() -> called.getFirst().fail(new TeamRevokedException("a test")))
                .expectError(TeamRevokedException.class)
                .verify(LIMIT);
    }

    @Test
    void aCollectiveWhoseProgressIsNotWantedAnyMoreGoesOn() {
        StepVerifier.create(progress()).thenAwait().thenCancel().verify(LIMIT);
        assertThat(abandoned.ended()).isNotDone();
        called.getFirst().succeed();
        assertThat(abandoned.ended()).isCompleted();
    }

    private Flux<CollectiveProgress> progress() {
        return ProgressReport.of("barrier", this::call, Duration.ofSeconds(1), null, abandoned);
    }
}
