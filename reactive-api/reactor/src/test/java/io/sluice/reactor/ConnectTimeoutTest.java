package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A time-out of a connect between two real engines leaves no connection on either side. */
class ConnectTimeoutTest {
    private static final EngineOptions OPTIONS =
            PatientOptions.builder().transports(List.of("tcp")).build();

    private final ReactiveTransferEngine here = ReactiveTransferEngine.open(OPTIONS);
    private final ReactiveTransferEngine there = ReactiveTransferEngine.open(OPTIONS);

    @AfterEach
    void close() {
        here.close().then(there.close()).block(Patience.BOUND);
    }

    private void bothSidesHave(int connections) {
        try {
            Patience.until(
                    "both sides have " + connections + " connections",
                    () -> here.engine().connections().size() == connections
                            && there.engine().connections().size() == connections);
        } catch (AssertionError late) {
            throw new AssertionError(
                    late.getMessage() + ", but " + here.engine().connections() + " and "
                            + there.engine().connections(),
                    late);
        }
    }

    private static boolean isSeen(Mono<ReactiveConnection> connect) {
        return Boolean.TRUE.equals(connect.hasElement()
                .onErrorResume(TimeoutException.class, late -> Mono.just(false))
                .block(Patience.BOUND));
    }

    @Test
    void aTimeOutInTheMomentOfTheConnectionLeavesWhatWasSeen() {
        int seen = 0;
        for (int round = 0; round < 50; round++) {
            Sinks.Empty<Void> limit = Sinks.empty();
            seen += isSeen(here.connect(there.address())
                            .doOnNext(connection -> limit.tryEmitEmpty())
                            .timeout(limit.asMono()))
                    ? 1
                    : 0;
        }
        // Reactor subscribes to the limit once it has asked for the connection, which may come before that
        assertThat(seen).as("connections that came before the limit was there").isLessThan(50);
        bothSidesHave(seen);
    }

    @Test
    void timeOutsAboutAsLongAsAConnectLeaveWhatWasSeen() {
        long began = System.nanoTime();
        ReactiveConnection first = here.connect(there.address()).block(Patience.BOUND);
        long nanos = System.nanoTime() - began;
        Random random = new Random(1);
        int seen = 1;
        for (int round = 0; round < 300; round++) {
            seen += isSeen(here.connect(there.address()).timeout(Duration.ofNanos(random.nextLong(nanos)))) ? 1 : 0;
        }
        assertThat(first).isNotNull();
        bothSidesHave(seen);
    }
}
