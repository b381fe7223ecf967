package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.StartEventException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.EveryOrder;
import io.sluice.testkit.EveryOrder.Actor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Transfers on a real flow in every order of what may happen to them: start, cancel, event, completion, deadline, another
 * start, the end of the connection. A step is a call of another thread, or one task of the poller.
 */
class FlowOrdersTest {
    private static final long MANY = 100;
    private static final TransferOptions DEADLINE = TransferOptions.defaults().withDeadline(Duration.ofSeconds(1));

    @Test
    void cancelTimeOutAndCompletionOfTwoTransfers() {
        assertThat(EveryOrder.runAll(() -> {
                    Orders orders = new Orders();
                    Started one = orders.prepare(DEADLINE);
                    Started other = orders.prepare(DEADLINE);
                    return orders.with(
                            Actor.of("starts one", one::start),
                            Actor.of("starts the other and cancels it", other::start, other::cancel));
                }))
                .isGreaterThan(MANY);
    }

    @Test
    void theEndOfTheConnectionMeetsStartCancelTimeOutAndCompletion() {
        assertThat(EveryOrder.runAll(() -> {
                    Orders orders = new Orders();
                    Started one = orders.prepare(DEADLINE);
                    Started other = orders.prepare(DEADLINE);
                    return orders.with(
                            Actor.of("user", one::start, one::cancel),
                            Actor.of("other user", other::start, other::start),
                            Actor.of("close", orders::close));
                }))
                .isGreaterThan(MANY);
    }

    @Test
    void theEventMeetsCancelTimeOutAndTheEndOfTheConnection() {
        assertThat(EveryOrder.runAll(() -> {
                    Orders orders = new Orders();
                    CompletableFuture<Void> event = new CompletableFuture<>();
                    Started transfer = orders.prepare(DEADLINE.startAfter(StartEvent.of(event)));
                    return orders.with(
                            Actor.of("starts", transfer::start, transfer::start),
                            Actor.of("event", () -> event.complete(null)),
                            Actor.of("cancel", transfer::cancel),
                            Actor.of("close", orders::close));
                }))
                .isGreaterThan(MANY);
    }

    @Test
    void aTransferIsStartedAgainAndAgainWhileItIsCancelled() {
        assertThat(EveryOrder.runAll(() -> {
                    Orders orders = new Orders();
                    Started transfer = orders.prepare(TransferOptions.defaults());
                    return orders.with(
                            Actor.of("starter", transfer::start, transfer::start, transfer::start),
                            Actor.of("canceller", transfer::cancel, transfer::cancel));
                }))
                .isGreaterThan(MANY);
    }

    /** The callback of a run that fails as it is admitted starts the next one, and cancels it. */
    @Test
    void aRunThatACallbackStartsAndCancelsIsAdmittedBeforeItEnds() {
        assertThat(EveryOrder.runAll(() -> {
                    Orders orders = new Orders();
                    List<StartEvent> events = new ArrayList<>(List.of(
                            listener -> listener.happened(new IllegalStateException("never")),
                            listener -> listener.happened(null)));
                    Started transfer = orders.prepare(
                            DEADLINE.startAfter(listener -> events.removeFirst().whenHappened(listener)));
                    transfer.whenFirstEnded = () -> {
                        transfer.start();
                        assertThat(transfer.runs)
                                .as("a callback can start it again")
                                .isEqualTo(2);
                        transfer.cancel();
                    };
                    return orders.with(
                            Actor.of("start", transfer::start),
                            Actor.of("asks the flow", () -> orders.mustComplete(orders.stepped.flow.quiet())));
                }))
                .isPositive();
    }

    /** Who cancels may be faster than who starts: between the begin of the run and the hand-over of its submission. */
    @Test
    void aCancelThatOvertakesTheSubmissionEndsTheRun() {
        SteppedFlow stepped = new SteppedFlow();
        List<SluiceException> ends = new ArrayList<>();
        FlowTransfer transfer = stepped.write(DEADLINE, (ended, error) -> ends.add(error));
        assertThat(transfer.hold()).isTrue();
        transfer.reset();
        transfer.beginRun();
        transfer.cancel();
        stepped.flow.mailbox().handOver(transfer);
        assertThat(stepped.loop.runNext()).isTrue();
        assertThat(ends).singleElement().isInstanceOf(TransferCancelledException.class);
        assertThat(stepped.endpoint.hasPosted()).isFalse();
    }

    @Test
    void aDeadlineThatComesEndsThePostedRun() {
        SteppedFlow stepped = new SteppedFlow();
        List<SluiceException> ends = new ArrayList<>();
        SteppedFlow.start(stepped.write(DEADLINE, (ended, error) -> ends.add(error)));
        assertThat(stepped.loop.runNext()).isTrue();
        assertThat(stepped.loop.hasDeadline()).isTrue();
        assertThat(ends).isEmpty();
        stepped.loop.expireNext();
        assertThat(ends).singleElement().isInstanceOf(TransferTimeoutException.class);
        assertThat(stepped.endpoint.hasPosted()).isTrue();
    }

    @Test
    void aCancelEndsThePostedRun() {
        SteppedFlow stepped = new SteppedFlow();
        List<SluiceException> ends = new ArrayList<>();
        FlowTransfer transfer = stepped.write(TransferOptions.defaults(), (ended, error) -> ends.add(error));
        SteppedFlow.start(transfer);
        assertThat(stepped.loop.runNext()).isTrue();
        transfer.cancel();
        assertThat(stepped.loop.runNext()).isTrue();
        assertThat(ends).singleElement().isInstanceOf(TransferCancelledException.class);
        assertThat(stepped.endpoint.hasPosted()).isTrue();
    }

    @Test
    void everyThreadHearsThatAllIsQuiet() {
        assertThat(EveryOrder.runAll(() -> {
                    Orders orders = new Orders();
                    Started transfer = orders.prepare(DEADLINE);
                    return orders.with(
                            Actor.of("user", transfer::start, transfer::cancel, transfer::start),
                            Actor.of("asks the transfer", () -> orders.mustComplete(transfer.transfer.quiesced())),
                            Actor.of("asks the flow", () -> orders.mustComplete(orders.stepped.flow.quiesced())));
                }))
                .isGreaterThan(MANY);
    }

    /** A prepared transfer, with its runs and their terminal signals counted. */
    private static final class Started {
        private final FlowTransfer transfer;
        private int runs;
        private int signals;
        private Runnable whenFirstEnded = () -> {};
        private AssertionError fault;

        Started(SteppedFlow stepped, TransferOptions options) {
            transfer = stepped.write(options, this::terminated);
        }

        /** Starts it, if it is at rest and the connection has not ended. */
        boolean start() {
            assertThat(signals).isLessThanOrEqualTo(runs);
            runs++;
            try {
                SteppedFlow.start(transfer);
            } catch (IllegalStateException | ConnectionClosedException refused) {
                // it runs, something of it is posted, or the connection has ended
                runs--;
            }
            return true;
        }

        boolean cancel() {
            transfer.cancel();
            return true;
        }

        private void terminated(Transfer ended, SluiceException error) {
            try {
                signals++;
                assertThat(signals).as("terminal signals of %s runs", runs).isEqualTo(runs);
                if (error != null) {
                    assertThat(error)
                            .isInstanceOfAny(
                                    TransferCancelledException.class,
                                    TransferTimeoutException.class,
                                    ConnectionClosedException.class,
                                    OutcomeUnknownException.class,
                                    StartEventException.class);
                }
                if (signals == 1) {
                    whenFirstEnded.run();
                }
            } catch (AssertionError e) {
                // the engine catches what a callback throws
                fault = e;
            }
        }
    }

    /** A flow, its poller's steps, and what has to be so at the end of every order. */
    private static final class Orders implements EveryOrder.Scenario {
        private final SteppedFlow stepped = new SteppedFlow();
        private final List<Started> transfers = new ArrayList<>();
        private final List<CompletableFuture<?>> awaited = new ArrayList<>();
        private final List<Actor> actors = new ArrayList<>();

        Orders() {
            actors.add(Actor.whenever("poller", stepped.loop::hasTask, stepped.loop::runNext));
            actors.add(Actor.whenever("completion", stepped.endpoint::hasPosted, stepped::completeNext));
            actors.add(Actor.whenever("deadline", stepped.loop::hasDeadline, stepped.loop::expireNext));
        }

        Orders with(Actor... others) {
            actors.addAll(List.of(others));
            return this;
        }

        Started prepare(TransferOptions options) {
            Started transfer = new Started(stepped, options);
            transfers.add(transfer);
            return transfer;
        }

        boolean close() {
            stepped.end();
            return true;
        }

        boolean mustComplete(CompletableFuture<?> future) {
            awaited.add(future);
            return true;
        }

        @Override
        public List<Actor> actors() {
            return actors;
        }

        /** Ended, and quiet by its own word. */
        private static boolean isAtRest(Started transfer) {
            return transfer.transfer.isTerminated()
                    && transfer.transfer.quiesced().isDone();
        }

        @Override
        public void checkStep() {
            for (Started transfer : transfers) {
                if (transfer.fault != null) {
                    throw transfer.fault;
                }
            }
            if (transfers.stream().allMatch(Orders::isAtRest)) {
                assertThat(stepped.endpoint.posted())
                        .as("requests of transfers that are at rest")
                        .isZero();
            }
            assertThat(stepped.memory.leases())
                    .as("leases, one for each request that the endpoint holds")
                    .isEqualTo(stepped.endpoint.posted());
        }

        @Override
        public void checkEnd() {
            for (Started transfer : transfers) {
                assertThat(transfer.signals).as("terminal signals").isEqualTo(transfer.runs);
                assertThat(transfer.transfer.isTerminated()).isTrue();
            }
            mustComplete(stepped.flow.quiesced());
            stepped.settle();
            assertThat(awaited).allMatch(CompletableFuture::isDone);
            assertThat(stepped.isAtRest())
                    .as("every credit, lease and place has come back")
                    .isTrue();
        }
    }
}
