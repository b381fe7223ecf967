package io.sluice.engine.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Extent;
import io.sluice.testkit.Patience;
import io.sluice.testkit.RaceRounds;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A caller that gives up its future leaves no connection and no attachment behind. */
class HandedOverTest {
    private static final int ROUNDS = Extent.of(30_000, 100_000);

    /** A resource comes on one thread, while another one lets the caller's future time out. */
    private static final class Attempt implements RaceRounds.Round {
        private final CompletableFuture<String> source = new CompletableFuture<>();
        private final AtomicInteger givenBack = new AtomicInteger();
        private final CompletableFuture<String> given = HandedOver.of(source, resource -> givenBack.incrementAndGet());
        private final AtomicIntegerArray fates;

        Attempt(AtomicIntegerArray fates) {
            this.fates = fates;
        }

        @Override
        public void own() {
            source.complete("a resource");
        }

        @Override
        public void other() {
            given.completeExceptionally(new TimeoutException());
        }

        @Override
        public void check(boolean raced) {
            int backs = given.isCompletedExceptionally() ? 1 : 0;
            fates.incrementAndGet(backs);
            if (givenBack.get() != backs) {
                fail("the future is " + given + ", and the resource was given back " + givenBack + " times");
            }
        }
    }
    /** Checks an attempt that was cancelled before it had ended. */
    private static void cancelled(Supplier<CompletableFuture<?>> attempt) {
        Patience.until("a future is cancelled in time", () -> {
            CompletableFuture<?> given = attempt.get();
            if (given.cancel(false)) {
                return true;
            }
            giveBack(given.join());
            return false;
        });
    }

    private static void giveBack(Object result) {
        switch (result) {
            case Connection connection -> Patience.await(connection.close());
            case RemoteRegion region -> Patience.await(region.connection().detach(region));
            default -> ((List<?>) result).forEach(HandedOverTest::giveBack);
        }
    }

    @Test
    void connectionThatComesAfterTheFutureWasCancelledIsClosed() {
        BlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
        try (TransferEngine target = LinkedEngines.open(options -> {});
                TransferEngine initiator = LinkedEngines.open(options -> options.noListener())) {
            target.onConnection(accepted::add);
            EngineAddress address = target.address();
            cancelled(() -> initiator.connect(address));
            Patience.await(Patience.take("the connection", accepted).ended());
            // those that came in time, too
            Patience.until(
                    "no connection is left", () -> initiator.connections().isEmpty());
        }
    }

    @Test
    void regionsThatAreAttachedAfterTheFutureWasCancelledAreDetached() throws Exception {
        try (LinkedEngines engines = new LinkedEngines(options -> {}, options -> options.maxAttachedRegions(2))) {
            MemoryRegion region = engines.served(64);
            MemoryRegion other = engines.served(64);
            cancelled(() -> engines.connection().attach(region.descriptor()));
            cancelled(() -> engines.connection().attach(List.of(region.descriptor(), other.descriptor())));
            Patience.until("there is room for two again", () -> {
                try {
                    List<RemoteRegion> both = Patience.await(
                            engines.connection().attach(List.of(region.descriptor(), other.descriptor())));
                    return both.size() == 2;
                } catch (SluiceException full) {
                    return false;
                }
            });
        }
    }

    @Test
    void whatComesInTheMomentOfTheTimeOutIsHadOrGivenBack() {
        AtomicIntegerArray fates = new AtomicIntegerArray(2);
        RaceRounds.run(ROUNDS, number -> new Attempt(fates));
        assertThat(fates.get(0)).as("had").isPositive();
        assertThat(fates.get(1)).as("given back").isPositive();
        assertThat(fates.get(0) + fates.get(1)).isEqualTo(ROUNDS);
    }

    @Test
    void errorsComeAsTheyAre() {
        CompletableFuture<String> source = new CompletableFuture<>();
        CompletableFuture<String> given = HandedOver.of(source.thenApply(value -> value), back -> {});
        SluiceException error = new SluiceException("of this test");
        source.completeExceptionally(error);
        assertThat(given.exceptionNow()).isSameAs(error);
    }
}
