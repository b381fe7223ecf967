package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Many wait for the end of one connection, and leave again. */
class SharedEndTest {
    private static final Duration LIMIT = Patience.BOUND;
    private static final int REQUESTS = 1_000;

    private final FakeConnection connection = FakeConnection.manual();
    private final ReactiveConnection reactive = ReactiveConnection.from(connection);
    private final List<Throwable> dropped = new ArrayList<>();

    @AfterEach
    void reset() {
        Hooks.resetOnErrorDropped();
    }

    @Test
    void whoLeavesLeavesNothingBehind() {
        Hooks.onErrorDropped(dropped::add);
        for (int i = 0; i < REQUESTS; i++) {
            Mono<Integer> request =
                    Mono.firstWithSignal(Mono.just(i), reactive.ended().cast(Integer.class));
            assertThat(request.block(LIMIT)).isEqualTo(i);
            reactive.withScheduler(Schedulers.immediate()).ended().subscribe().dispose();
        }
        assertThat(connection.ended.getNumberOfDependents()).isLessThanOrEqualTo(1);
        connection.ended.completeExceptionally(new ConnectionLostException("lost"));
        assertThat(dropped).isEmpty();
    }

    @Test
    void thoseThatWaitAreCountedUntilTheyLeave() {
        SharedEnd end = new SharedEnd(connection);
        List<Disposable> waiting = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            waiting.add(end.mono().subscribe());
        }
        assertThat(end.waiting()).isEqualTo(REQUESTS);
        waiting.forEach(Disposable::dispose);
        assertThat(end.waiting()).isZero();
    }

    @Test
    void allWhoWaitHearOfItAndSoDoThoseWhoComeLater() {
        List<String> heard = new ArrayList<>();
        reactive.ended().subscribe(nothing -> {}, error -> heard.add("1 " + error.getMessage()));
        reactive.ended().subscribe(nothing -> {}, error -> heard.add("2 " + error.getMessage()));
        connection.ended.completeExceptionally(new ConnectionLostException("lost"));
        assertThat(heard).containsExactly("1 lost", "2 lost");
        StepVerifier.create(reactive.ended())
                .expectError(ConnectionLostException.class)
                .verify(LIMIT);
    }
}
