package io.sluice.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.testkit.Patience;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/** A publication that nothing takes leaves no entry; one that is taken stays, also where the operator cancels as it takes. */
class PublishTimeoutTest {
    private static final String NAME = "decode/7";

    private final Directory directory = Directory.inProcess();

    @AfterEach
    void close() {
        directory.close().block(Patience.BOUND);
    }

    private Mono<Publication> publish() {
        EngineAddress address = new EngineAddress("127.0.0.1", 7_000, new EngineId(1, 2));
        return directory.publish(new Advertisement(NAME, address, 1, new TreeMap<>()));
    }

    private boolean isPublished() {
        return Boolean.TRUE.equals(directory
                .find(NAME)
                .hasElement()
                .onErrorReturn(EngineNotFoundException.class, false)
                .block(Patience.BOUND));
    }

    @Test
    void aTimeOutInTheMomentOfTheSuccessTakesTheEntryOut() {
        // the time-out is there before the store answers, which this one does at once
        Sinks.Empty<Void> begin = Sinks.empty();
        Sinks.Empty<Void> limit = Sinks.empty();
        StepVerifier.create(publish()
                        .delaySubscription(begin.asMono())
                        .doOnNext(publication -> limit.tryEmitEmpty())
                        .timeout(limit.asMono()))
                .then(begin::tryEmitEmpty)
                .expectError(TimeoutException.class)
                .verify(Patience.BOUND);
        Patience.until("the entry is taken out", () -> !isPublished());
    }

    @Test
    void whatCancelsAsItTakesKeepsTheEntry() {
        Publication taken = publish().flux().take(1).blockLast(Patience.BOUND);
        assertThat(taken).isNotNull();
        assertThat(isPublished()).isTrue();
        taken.withdraw().block(Patience.BOUND);
        assertThat(isPublished()).isFalse();
        Publication next =
                Flux.just(1, 2).concatMap(attempt -> publish()).next().block(Patience.BOUND);
        assertThat(next).isNotNull();
        assertThat(isPublished()).isTrue();
    }

    @Test
    void aCancelFromAnotherThreadAsItIsHandedOverTakesTheEntryOut() {
        AtomicReference<Subscription> given = new AtomicReference<>();
        BaseSubscriber<Publication> subscriber = new BaseSubscriber<>() {
            @Override
            protected void hookOnNext(Publication publication) {
                Patience.join(Thread.ofPlatform().start(() -> given.get().cancel()));
            }
        };
        publish().doOnSubscribe(given::set).subscribe(subscriber);
        Patience.until("the entry is taken out", () -> !isPublished());
    }
}
