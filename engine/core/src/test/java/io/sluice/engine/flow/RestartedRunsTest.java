package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.StartEventException;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An event of one run of a transfer never affects the next run, and the effects of a run are kept. */
class RestartedRunsTest {
    private static final EngineOptions OPTIONS = EngineOptions.defaults();
    private static final boolean SOAK =
            System.getProperty("sluice.test.profile", "").equals("soak");
    private static final Duration TIME = Duration.ofSeconds(SOAK ? 15 : 1);

    /** The first run's event has failed before the run is admitted; its callback starts the next and cancels it. */
    @Test
    void cancelOfTheNextRunIsNotTakenForOneOfTheRunThatEnds() throws Exception {
        try (HandledEndpoint endpoint = new HandledEndpoint(OPTIONS, true)) {
            AtomicInteger posted = new AtomicInteger();
            endpoint.handle(request -> true, request -> {
                posted.incrementAndGet();
                endpoint.completeSoon(request);
            });
            AtomicInteger asked = new AtomicInteger();
            StartEvent event = listener ->
                    listener.happened(asked.incrementAndGet() == 1 ? new IllegalStateException("on purpose") : null);
            List<SluiceException> ends = new ArrayList<>();
            CompletableFuture<PreparedTransfer> self = new CompletableFuture<>();
            CompletableFuture<Void> both = new CompletableFuture<>();
            self.complete(endpoint.transfers()
                    .single(
                            WorkRequest.Opcode.WRITE,
                            HandledEndpoint.bytes(8),
                            TransferOptions.defaults().startAfter(event),
                            (transfer, error) -> {
                                ends.add(error);
                                if (ends.size() == 1) {
                                    self.join().start();
                                    self.join().cancel();
                                } else {
                                    both.complete(null);
                                }
                            }));
            endpoint.onPoller(() -> {
                self.join().start();
                return null;
            });
            Patience.await(both);
            Patience.await(endpoint.flow().quiesced());
            assertThat(ends).hasSize(2);
            assertThat(ends.getFirst()).isInstanceOf(StartEventException.class);
            assertThat(ends.getLast()).isInstanceOf(TransferCancelledException.class);
            assertThat(posted).hasValue(0);
            assertThat(endpoint.flow().pending()).isZero();
        }
    }

    /** Another thread starts the next run at the very moment at which the poller looks at a cancel of the last one. */
    @Test
    void lateCancelNeverEndsTheNextRun() throws Exception {
        EngineOptions spinning =
                PatientOptions.builder().spin(Duration.ofMinutes(1)).build();
        try (HandledEndpoint endpoint = new HandledEndpoint(spinning, true)) {
            AtomicLong ended = new AtomicLong();
            AtomicLong cancelled = new AtomicLong();
            PreparedTransfer transfer = endpoint.transfers()
                    .single(
                            WorkRequest.Opcode.WRITE,
                            HandledEndpoint.bytes(8),
                            TransferOptions.defaults(),
                            (run, error) -> {
                                if (error != null) {
                                    cancelled.incrementAndGet();
                                }
                                ended.incrementAndGet();
                            });
            Random random = new Random(1);
            long end = System.nanoTime() + TIME.toNanos();
            long started = 0;
            while (System.nanoTime() < end) {
                long before = cancelled.get();
                startWhenItCan(transfer);
                for (int i = random.nextInt(60); i > 0; i--) {
                    Thread.onSpinWait();
                }
                transfer.cancel();
                startWhenItCan(transfer);
                started += 2;
                long all = started;
                Patience.until("both runs have ended", () -> ended.get() == all);
                assertThat(cancelled.get() - before)
                        .as("one cancel was asked for")
                        .isLessThanOrEqualTo(1);
            }
            Patience.await(endpoint.flow().quiesced());
            assertThat(endpoint.flow().pending()).isZero();
        }
    }

    /** Another thread asks whether a cancelled run is quiescent at the very moment at which the poller finds that it is. */
    @Test
    void aRunThatIsQuiescentCanBeStartedAgain() throws Exception {
        EngineOptions spinning =
                PatientOptions.builder().spin(Duration.ofMinutes(1)).build();
        try (HandledEndpoint endpoint = new HandledEndpoint(spinning, true)) {
            AtomicReference<WorkRequest> posted = new AtomicReference<>();
            endpoint.handle(request -> true, posted::set);
            AtomicLong ended = new AtomicLong();
            PreparedTransfer transfer = endpoint.transfers()
                    .single(
                            WorkRequest.Opcode.WRITE,
                            HandledEndpoint.bytes(8),
                            TransferOptions.defaults(),
                            (run, error) -> ended.incrementAndGet());
            Random random = new Random(1);
            AtomicLong completing = new AtomicLong();
            long end = System.nanoTime() + TIME.toNanos();
            for (long run = 1; System.nanoTime() < end; run++) {
                long started = run;
                transfer.start();
                soon("it is posted", () -> posted.get() != null);
                transfer.cancel();
                soon("it has ended", () -> ended.get() == started);
                WorkRequest request = posted.getAndSet(null);
                endpoint.soon(() -> {
                    completing.set(started);
                    endpoint.flow().completed(request, CompletionStatus.SUCCESS);
                });
                soon("it is completed", () -> completing.get() == started);
                for (int i = random.nextInt(60); i > 0; i--) {
                    Thread.onSpinWait();
                }
                Patience.await(transfer.quiesced());
            }
            assertThat(ended.get()).isGreaterThan(1);
        }
    }

    /** Sees it within nanoseconds, if it comes soon. */
    private static void soon(String what, BooleanSupplier condition) {
        for (int i = 0; i < 100_000 && !condition.getAsBoolean(); i++) {
            Thread.onSpinWait();
        }
        Patience.until(what, condition);
    }

    private static void startWhenItCan(PreparedTransfer transfer) {
        Patience.until("the last run has ended", () -> {
            try {
                transfer.start();
                return true;
            } catch (IllegalStateException stillRunning) {
                return false;
            }
        });
    }

    /** The bytes are in place; the signal's own request is never sent. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void writeWhoseSignalIsCutOffIsNotSaidToHaveLeftTheTargetAlone(boolean signalAccepted) throws Exception {
        try (HandledEndpoint endpoint = new HandledEndpoint(OPTIONS, false)) {
            List<WorkRequest> held = new ArrayList<>();
            CompletableFuture<Void> offered = new CompletableFuture<>();
            endpoint.handle(
                    request -> {
                        if (request.operation() == WorkRequest.Opcode.SIGNAL) {
                            offered.complete(null);
                            return signalAccepted;
                        }
                        return true;
                    },
                    request -> {
                        if (request.operation() == WorkRequest.Opcode.SIGNAL) {
                            held.add(request);
                        } else {
                            endpoint.completeSoon(request);
                        }
                    });
            CompletableFuture<SluiceException> end = new CompletableFuture<>();
            endpoint.transfers()
                    .signalling(
                            HandledEndpoint.bytes(64),
                            new SignalPlan(HandledEndpoint.key(), 0, 1, SignalOrder.WEAK),
                            TransferOptions.defaults(),
                            (transfer, error) -> end.complete(error))
                    .start();
            Patience.await(offered);
            endpoint.onPoller(() -> {
                endpoint.cut();
                held.forEach(request -> endpoint.flow().completed(request, CompletionStatus.FLUSHED_UNSENT));
                endpoint.flow().endAll();
                return null;
            });
            assertThat(Patience.await(end)).isInstanceOf(OutcomeUnknownException.class);
        }
    }
}
