package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.PollerMetrics;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Extent;
import io.sluice.testkit.Patience;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Writes that are each started by the callback of the one before: they neither deepen the stack nor keep their caller. */
class CallerThreadChainTest {
    private static final int WRITES = Extent.of(250_000, 1_000_000);
    private static final int MOST_IN_THE_CALL = 1000;
    private static final int MOST_IN_A_CYCLE = 20_000;
    private static final int LOOK_EVERY = 10_007;
    private static final long STACK_BYTES = 256 << 10;

    private static final class Chain implements TransferCallback {
        private final ShmPair pair;
        private final CompletableFuture<Integer> done = new CompletableFuture<>();
        private final CountDownLatch returned = new CountDownLatch(1);
        private final AtomicInteger deepestNesting = new AtomicInteger();
        private final ThreadLocal<Integer> nesting = ThreadLocal.withInitial(() -> 0);
        private @Nullable Thread starter;
        // the chain's one thread at a time
        private int ended;
        private int endedInTheCall;
        private long deepest;
        private long shallowest = Long.MAX_VALUE;

        Chain(ShmPair pair) {
            this.pair = pair;
        }

        void start() {
            starter = Thread.currentThread();
            next();
            returned.countDown();
        }

        private void next() {
            pair.connection().write(pair.local(), 0, pair.remote(), 0, 64, TransferOptions.defaults(), this);
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            nesting.set(nesting.get() + 1);
            deepestNesting.accumulateAndGet(nesting.get(), Math::max);
            try {
                step(error);
            } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
            } finally {
                nesting.set(nesting.get() - 1);
            }
        }

        private void step(@Nullable SluiceException error) {
            if (error != null) {
                throw error;
            }
            ended++;
            if (Thread.currentThread() == starter) {
                endedInTheCall++;
            }
            if (ended % LOOK_EVERY == 0 || ended < 300) {
                long depth = StackWalker.getInstance().walk(frames -> frames.count());
                deepest = Math.max(deepest, depth);
                shallowest = Math.min(shallowest, depth);
            }
            if (ended == WRITES / 2) {
                awaitReturn();
            }
            if (ended == WRITES) {
                done.complete(ended);
            } else {
                next();
            }
        }

        /** The chain cannot go on before its starter's call has returned: so that it cannot be what the call waits for. */
        private void awaitReturn() {
            Patience.await(returned);
        }

        void awaitEnd() {
            assertThat(Patience.await(done, Patience.longBound())).isEqualTo(WRITES);
        }
    }

    /** Others wait for the same poller: their turn comes after some of a chain's writes. */
    @Test
    void longChainLeavesThePollerToOthers() {
        try (ShmPair pair = ShmPair.open(4096)) {
            long before = EngineSums.ofPollers(pair.initiator(), PollerMetrics::busyPolls);
            Chain chain = new Chain(pair);
            chain.start();
            chain.awaitEnd();
            assertThat(EngineSums.ofPollers(pair.initiator(), PollerMetrics::busyPolls) - before)
                    .as("cycles of the pollers")
                    .isGreaterThan(WRITES / MOST_IN_A_CYCLE);
        }
    }

    @Test
    void longChainHasAConstantDepthAndDoesNotKeepItsCaller() {
        try (ShmPair pair = ShmPair.open(4096)) {
            Chain chain = new Chain(pair);
            // a deep stack would not fit
            new Thread(null, chain::start, "chain", STACK_BYTES).start();
            chain.awaitEnd();
            // inside a callback that the poller gives there may be one that its call gives, and no more
            assertThat(chain.deepestNesting.get())
                    .as("callbacks inside callbacks")
                    .isLessThanOrEqualTo(2);
            assertThat(chain.endedInTheCall).isBetween(1, MOST_IN_THE_CALL);
            assertThat(chain.deepest - chain.shallowest)
                    .as("from %d frames", chain.shallowest)
                    .isLessThan(60);
            EngineMetrics metrics = pair.initiator().metrics();
            Patience.until("all are counted", () -> metrics.operations(Operation.WRITE, Outcome.SUCCESS) >= WRITES);
            assertThat(metrics.operations(Operation.WRITE, Outcome.SUCCESS)).isEqualTo(WRITES);
            assertThat(metrics.bytes(Operation.WRITE)).isEqualTo(64L * WRITES);
            pair.assertNothingInFlight();
        }
    }
}
