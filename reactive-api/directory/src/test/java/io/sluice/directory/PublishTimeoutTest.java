package io.sluice.directory;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.testkit.Patience;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/** A time-out of a publish in the moment in which it succeeds leaves no entry that has no owner. */
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
        Sinks.Empty<Void> limit = Sinks.empty();
        StepVerifier.create(
                        publish().doOnNext(publication -> limit.tryEmitEmpty()).timeout(limit.asMono()))
                .expectError(TimeoutException.class)
                .verify(Patience.BOUND);
        Patience.until("the entry is taken out", () -> !isPublished());
    }
}
