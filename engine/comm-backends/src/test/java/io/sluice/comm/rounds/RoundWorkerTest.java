package io.sluice.comm.rounds;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Which reason a back end ends with, where its library has one and the team another. */
class RoundWorkerTest {
    private static final SluiceException OF_LIBRARY = new SluiceException("remote process exited");

    private final CountedExchange exchange = new CountedExchange(null, OF_LIBRARY);
    private final CompletableFuture<SluiceException> failed = new CompletableFuture<>();
    private final RoundWorker.Loop loop = new RoundWorker.Loop() {
        @Override
        public void ring(long round) {}

        @Override
        public void changed() {}

        @Override
        public void seen(int rank) {}

        @Override
        public boolean hasSeen(int rank) {
            return true;
        }

        @Override
        public void failed(SluiceException error) {
            worker.fail(error);
            failed.complete(error);
        }
    };
    private RoundWorker worker;

    /** Runs a round, in which the library fails. */
    private void fail(long doubtNanos) {
        worker = new RoundWorker("test", 0, 3, exchange, number -> null, doubtNanos);
        worker.start(loop);
        await(worker.opened);
        worker.want(1);
        Patience.await(exchange.failed);
    }

    @Test
    void aRankThatTheTeamLosesSoonAfterIsNamed() {
        fail(Patience.longBound().toNanos());
        worker.lose(2);
        await(worker.ended);
        assertThat(worker.failure()).isInstanceOf(ConnectionLostException.class).hasMessageContaining("rank 2 is lost");
        assertThat(failed).isNotDone();
        assertThat(exchange.closed).hasValue(1);
    }

    @Test
    void whereTheTeamLosesNoneNoneIsNamed() {
        fail(1);
        await(worker.ended);
        assertThat(worker.failure())
                .isEqualTo(await(failed))
                .isNotInstanceOf(ConnectionLostException.class)
                .hasCause(OF_LIBRARY)
                .hasMessageContaining("remote process exited. Create another one.");
        assertThat(exchange.closed).hasValue(1);
    }

    @Test
    void oneThatIsClosedInDoubtDoesNotWait() {
        fail(Patience.longBound().toNanos());
        worker.close();
        await(worker.ended);
        assertThat(exchange.closed).hasValue(1);
    }

    /** As where the loop cannot listen to the other ranks, or there can be no other thread. */
    @Test
    void oneThatCannotStartEndsAndClosesTheExchange() {
        worker = new RoundWorker("test", 0, 3, exchange, number -> null, 1);
        IllegalStateException why = new IllegalStateException("of the test");
        worker.abandon(loop, why);
        assertThat(failure(worker.opened, SluiceException.class)).hasCause(why);
        await(worker.ended);
        assertThat(exchange.closed).hasValue(1);
        assertThat(exchange.opened).hasValue(0);
        RoundOperation put = new RoundOperation().set(RoundOperation.Kind.PUT, null);
        worker.submit(put);
        assertThat(worker.done.takeAll()).isEqualTo(put);
        assertThat(put.error).isEqualTo(worker.failure());
    }
}
