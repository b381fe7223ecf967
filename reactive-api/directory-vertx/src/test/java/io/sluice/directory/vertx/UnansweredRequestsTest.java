package io.sluice.directory.vertx;

import static io.sluice.testkit.Patience.BOUND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A cluster whose answers are the test's. */
class UnansweredRequestsTest {
    private final UnansweredRequests requests = new UnansweredRequests(2);
    private final List<String> made = new CopyOnWriteArrayList<>();
    private final Queue<Promise<String>> unanswered = new ConcurrentLinkedQueue<>();
    private final List<String> answers = new CopyOnWriteArrayList<>();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();

    private Mono<String> request(String name) {
        return requests.request(() -> {
            Promise<String> answer = Promise.promise();
            unanswered.add(answer);
            made.add(name);
            return answer.future();
        });
    }

    private Disposable ask(String name) {
        return request(name).subscribe(answers::add, errors::add);
    }

    private void awaitMade(int count) {
        await().atMost(BOUND).until(() -> made.size() == count);
    }

    /** An answer may be handed on by the thread that has made the request. */
    private void awaitEnded(int count) {
        await().atMost(BOUND).until(() -> answers.size() + errors.size() == count);
    }

    @Test
    void whatIsBeyondTheBoundWaitsForAnAnswerToAnother() {
        ask("a");
        ask("b");
        ask("c");
        awaitMade(2);
        await().during(Duration.ofMillis(100)).atMost(BOUND).until(() -> made.size() == 2);
        unanswered.remove().complete("first");
        awaitMade(3);
        awaitEnded(1);
        assertThat(answers).containsExactly("first");
        unanswered.remove().fail("second");
        unanswered.remove().complete("third");
        awaitEnded(3);
        assertThat(answers).containsExactly("first", "third");
        assertThat(errors).singleElement().satisfies(error -> assertThat(error).hasMessage("second"));
        assertThat(made).containsExactlyInAnyOrder("a", "b", "c");
    }

    /** The first two have no waiter any more, but the cluster has not answered them. */
    @Test
    void aRequestThatWasGivenUpKeepsItsPlaceAndOneThatWaitsIsNeverMade() {
        List<Disposable> given = List.of(ask("a"), ask("b"));
        awaitMade(2);
        given.forEach(Disposable::dispose);
        ask("never").dispose();
        ask("c");
        await().during(Duration.ofMillis(100)).atMost(BOUND).until(() -> made.size() == 2);
        unanswered.remove().complete("late");
        awaitMade(3);
        assertThat(made).contains("c").doesNotContain("never");
        assertThat(answers).isEmpty();
    }

    @Test
    void oneThatCannotBeMadeGivesItsPlaceBack() {
        for (int i = 0; i < 10; i++) {
            requests.<String>request(() -> {
                        throw new IllegalStateException("closed");
                    })
                    .subscribe(answers::add, errors::add);
        }
        await().atMost(BOUND).until(() -> errors.size() == 10);
        assertThat(requests.request(() -> Future.succeededFuture("there")).block(BOUND))
                .isEqualTo("there");
        assertThat(requests.request(Future::succeededFuture).blockOptional(BOUND))
                .isEmpty();
    }
}
