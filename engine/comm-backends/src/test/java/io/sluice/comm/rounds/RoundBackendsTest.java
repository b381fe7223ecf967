package io.sluice.comm.rounds;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.TeamClosedException;
import io.sluice.experts.BackendUnavailableException;
import io.sluice.experts.ExpertRanks;
import io.sluice.experts.backend.CommBackend;
import io.sluice.testkit.Patience;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Back ends that cannot be opened leave nothing behind. */
class RoundBackendsTest {
    private final ExpertRanks ranks = ExpertRanks.form("shm", 2);

    @AfterEach
    void close() {
        ranks.close();
    }

    private static void assertClosedOnce(CountedExchange exchange) {
        Patience.until("the exchange is closed", () -> exchange.closed.get() > 0);
        assertThat(exchange.closed).hasValue(1);
        assertThat(exchange.opened).hasValue(0);
    }

    @Test
    void oneWithoutTermsIsClosedOnAllRanks() {
        List<CountedExchange> exchanges = List.of(
                new CountedExchange(null, null), new CountedExchange(new IllegalStateException("of the test"), null));
        ranks.each(rank -> RoundBackends.open(
                        "test", ranks.team(rank), CountedExchange.TERMS_BYTES, () -> exchanges.get(rank)))
                .forEach(each -> failure(each, BackendUnavailableException.class));
        exchanges.forEach(RoundBackendsTest::assertClosedOnce);
    }

    @Test
    void oneOfAnEngineThatIsClosedIsClosed() {
        List<Doorbell> doorbells = ranks.each(rank -> Doorbell.create(ranks.team(rank))).stream()
                .map(Patience::await)
                .toList();
        await(ranks.engine(0).closeAsync());
        CountedExchange exchange = new CountedExchange(null, null);
        CompletableFuture<CommBackend> opening =
                RoundBackend.open("test", ranks.team(0), exchange, doorbells.getFirst());
        failure(opening, TeamClosedException.class);
        assertClosedOnce(exchange);
        await(doorbells.getLast().close());
    }
}
