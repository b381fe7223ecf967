package io.sluice.samples.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sluice.engine.ConnectionLostException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.samples.control.ControlLink;
import io.sluice.samples.control.ControlMessage;
import io.sluice.samples.control.ControlMessage.Allocate;
import io.sluice.samples.control.ControlMessage.Hello;
import io.sluice.samples.control.ControlMessage.Last;
import io.sluice.samples.control.ControlMessage.Pages;
import io.sluice.samples.control.ControlMessage.Refused;
import io.sluice.samples.control.ControlMessage.Result;
import io.sluice.samples.control.MalformedMessageException;
import io.sluice.samples.control.RefusedException;
import io.sluice.samples.control.RefusedException.RefusalReason;
import io.sluice.samples.kvcache.BlockHashes;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageSeal;
import io.sluice.samples.prefill.PageMover;
import io.sluice.samples.prefill.PageMover.RequestOutcome;
import io.sluice.samples.prefill.PrefillSession;
import io.sluice.samples.report.ReplaySummary;
import io.sluice.samples.trace.GeneratedTrace;
import io.sluice.samples.trace.GeneratedTrace.GeneratedTraceOptions;
import io.sluice.samples.trace.TraceRequest;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** Both sides of a replay in one process. */
class ReplaySessionTest {

    private static final ModelPreset MODEL = ModelPreset.named("qwen2.5-0.5b");
    private static final int LAYERS = 24;

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"deepseek-v3, OVERLAPPING", "llama-3.1-8b, OVERLAPPING", "llama-3.1-8b, SEPARATE"})
    void everyPageOfLargerModelsIsMovedOrReusedAndIntact(String name, PageMover.Phases phases) {
        everyPageIsMovedOrReusedAndIntact(name, phases);
    }

    @ParameterizedTest
    @CsvSource({"qwen2.5-0.5b, OVERLAPPING", "qwen2.5-0.5b, SEPARATE"})
    void everyPageIsMovedOrReusedAndIntact(String name, PageMover.Phases phases) {
        ModelPreset model = ModelPreset.named(name);
        try (LoopbackPair pair = new LoopbackPair(model, 200)) {
            PrefillSession session = pair.open(model);
            GeneratedTrace trace = new GeneratedTrace(new GeneratedTraceOptions(40, 1, 1_600, 3.4));
            long pages = 0;
            GeneratedTrace same = new GeneratedTrace(new GeneratedTraceOptions(40, 1, 1_600, 3.4));
            while (same.hasNext()) {
                pages += (long) (same.next().inputTokens() / 16) * model.layers();
            }
            Replay replay =
                    new Replay(session, trace, new Replay.Plan(Long.MAX_VALUE, Pacing.unlimited(), null, phases));
            replay.run().block(LoopbackPair.BOUND);
            ReplaySummary summary = replay.summary(name, false);
            assertThat(summary.requests()).isEqualTo(40);
            assertThat(summary.pagesMoved() + summary.pagesReused()).isEqualTo(pages);
            assertThat(summary.pagesReused()).isPositive();
            assertThat(summary.corruptedPages()).isZero();
            assertThat(replay.requestsUnaccounted()).isZero();
            assertThat(summary.pageBytes()).isEqualTo(summary.pagesMoved() * model.pageBytes());
            assertThat(summary.bytes()).isEqualTo(summary.pageBytes() + summary.pagesMoved() * PageSeal.BYTES);
            assertThat(session.bytesMoved()).isEqualTo(summary.bytes());
            assertThat(summary.transferMillis().p50()).isPositive();
            if (phases == PageMover.Phases.SEPARATE) {
                assertThat(summary.writeSeconds()).isPositive().isLessThan(summary.seconds());
                assertThat(summary.writeGigabytesPerSecond()).isGreaterThan(summary.gigabytesPerSecond());
            } else {
                assertThat(summary.writeSeconds()).isNull();
                assertThat(summary.writeGigabytesPerSecond()).isNull();
            }
            assertThat(summary.maxInflightOps()).isBetween(1L, 256L);
            assertThat(summary.maxInflightBytes()).isBetween(1L, 64L << 20);
            session.close().block(LoopbackPair.BOUND);
            await().atMost(LoopbackPair.BOUND).until(() -> pair.reports().size() == 1);
            assertThat(pair.reports().getFirst().requests()).isEqualTo(40);
            assertThat(pair.reports().getFirst().pagesChecked()).isEqualTo(summary.pagesMoved());
        }
    }

    @Test
    void aRequestWithoutAWholePageMovesNothing() {
        try (LoopbackPair pair = new LoopbackPair(MODEL, 10)) {
            RequestOutcome outcome =
                    LoopbackPair.await(pair.open(MODEL).replay(0, request(15, 1), PageMover.Phases.OVERLAPPING));
            assertThat(outcome).isEqualTo(new RequestOutcome(0, 0, 0, 0, 0, 0, 0, 0, RequestOutcome.NOTHING_MOVED));
        }
    }

    /** More pages than the staging area has room for, so several bursts, the last of which is not full. */
    @Test
    void aLargeRequestGoesInSeveralBursts() {
        try (LoopbackPair pair = new LoopbackPair(MODEL, 400)) {
            PrefillSession session = pair.open(MODEL);
            RequestOutcome outcome = LoopbackPair.await(session.replay(
                    0, request(390 * 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13), PageMover.Phases.SEPARATE));
            assertThat(outcome.pagesMoved()).isEqualTo(390 * LAYERS);
            assertThat(outcome.accountedFor()).isTrue();
            assertThat(outcome.pagesCorrupted()).isZero();
            assertThat(outcome.writeNanos()).isPositive();
        }
    }

    @Test
    void aPoolThatWasTouchedBeforeIsServedLikeAnother() {
        // More than is touched in one piece.
        try (LoopbackPair pair = new LoopbackPair(MODEL, 400, true)) {
            PrefillSession session = pair.open(MODEL);
            RequestOutcome outcome =
                    LoopbackPair.await(session.replay(0, request(700, 1, 2), PageMover.Phases.SEPARATE));
            assertThat(outcome.accountedFor()).isTrue();
            assertThat(outcome.pagesCorrupted()).isZero();
        }
    }

    @Test
    void inSeparatePhasesASecondRequestIsRefused() {
        try (LoopbackPair pair = new LoopbackPair(MODEL, 100)) {
            PrefillSession session = pair.open(MODEL);
            Mono<RequestOutcome> first = session.replay(0, request(700, 1, 2), PageMover.Phases.SEPARATE);
            Mono<RequestOutcome> second = session.replay(1, request(700, 3, 4), PageMover.Phases.SEPARATE);
            List<Throwable> refusals = new CopyOnWriteArrayList<>();
            // Subscribed to while the first is under way, and once more after it.
            assertThat(LoopbackPair.await(
                                    first.doOnSubscribe(subscription -> second.subscribe(outcome -> {}, refusals::add)))
                            .accountedFor())
                    .isTrue();
            assertThat(refusals).singleElement().isInstanceOf(IllegalStateException.class);
            assertThat(LoopbackPair.await(second).accountedFor()).isTrue();
        }
    }

    @Test
    void whatTheDecodeSideHasIsNotMovedAgain() {
        try (LoopbackPair pair = new LoopbackPair(MODEL, 100)) {
            PrefillSession session = pair.open(MODEL);
            RequestOutcome first =
                    LoopbackPair.await(session.replay(0, request(700, 1, 2), PageMover.Phases.OVERLAPPING));
            RequestOutcome second =
                    LoopbackPair.await(session.replay(1, request(1100, 1, 2, 3), PageMover.Phases.OVERLAPPING));
            assertThat(first.pagesMoved()).isEqualTo(43 * LAYERS);
            assertThat(first.pagesReused()).isZero();
            assertThat(second.pagesMoved()).isEqualTo((68 - 43) * LAYERS);
            assertThat(second.pagesReused()).isEqualTo(43 * LAYERS);
            assertThat(second.accountedFor()).isTrue();
        }
    }

    @Test
    void pagesThatWereNeverWrittenAreCorruptedAndNotReused() throws InterruptedException {
        try (LoopbackPair pair = new LoopbackPair(MODEL, 64)) {
            PrefillSession honest = pair.open(MODEL);
            LoopbackPair.await(honest.replay(0, request(512, 1), PageMover.Phases.OVERLAPPING));
            honest.close().block(LoopbackPair.BOUND);

            ControlLink link = new ControlLink(connectWhenFree(pair, 1));
            BlockingQueue<ControlMessage> answers = new LinkedBlockingQueue<>();
            link.received().subscribe(answers::add, error -> {});
            send(link, new Hello(MODEL.name(), LAYERS, MODEL.pageBytes()));
            Patience.take("the answer to the greeting", answers);
            for (long id = 0; id < 2; id++) {
                send(link, new Allocate(id, 512, BlockHashes.of(1)));
                assertThat(Patience.take("an answer", answers))
                        .isInstanceOfSatisfying(
                                Pages.class,
                                pages -> assertThat(pages.assignment().movedPages())
                                        .isEqualTo(32));
                send(link, new Last(id));
                assertThat(Patience.take("an answer", answers)).isEqualTo(new Result(id, 32 * LAYERS, 32 * LAYERS));
            }
        }
    }

    @Test
    void anotherModelIsRefused() {
        try (LoopbackPair pair = new LoopbackPair(MODEL, 10)) {
            assertThatThrownBy(() -> pair.open(ModelPreset.named("llama-3.1-8b")))
                    .isInstanceOfSatisfying(
                            RefusedException.class, e -> assertThat(e.reason()).isEqualTo(RefusalReason.OTHER_MODEL))
                    .hasMessageContainingAll("llama-3.1-8b", MODEL.name(), "--model");
        }
    }

    @Test
    void aRequestLargerThanThePoolIsRefused() {
        try (LoopbackPair pair = new LoopbackPair(MODEL, 10)) {
            PrefillSession session = pair.open(MODEL);
            assertThatThrownBy(
                            () -> LoopbackPair.await(session.replay(0, request(500, 1), PageMover.Phases.OVERLAPPING)))
                    .isInstanceOfSatisfying(
                            RefusedException.class, e -> assertThat(e.reason()).isEqualTo(RefusalReason.POOL_TOO_SMALL))
                    .hasMessageContaining("--pool");
        }
    }

    @Test
    void onePrefillSideIsServedAtATime() {
        try (LoopbackPair pair = new LoopbackPair(MODEL, 10)) {
            PrefillSession first = pair.open(MODEL);
            assertThatThrownBy(() -> pair.open(MODEL))
                    .isInstanceOfSatisfying(
                            RefusedException.class, e -> assertThat(e.reason()).isEqualTo(RefusalReason.OCCUPIED));
            first.close().block(LoopbackPair.BOUND);
            await().atMost(LoopbackPair.BOUND).until(() -> pair.reports().size() == 1);
            LoopbackPair.await(pair.open(MODEL).replay(0, request(16, 1), PageMover.Phases.OVERLAPPING));
        }
    }

    @Test
    void nonsenseIsAnsweredAndEndsTheSession() throws InterruptedException {
        List<byte[]> nonsense = new ArrayList<>();
        nonsense.add(new byte[0]);
        nonsense.add("not a message, but long enough for a header".getBytes(java.nio.charset.StandardCharsets.UTF_8));
        try (LoopbackPair pair = new LoopbackPair(MODEL, 10)) {
            int sessions = 0;
            for (byte[] bytes : nonsense) {
                ReactiveConnection connection = connectWhenFree(pair, sessions++);
                expectRefusal(connection, () -> connection.notify(bytes).block(LoopbackPair.BOUND));
            }
            for (ControlMessage message :
                    List.of(new Last(1), new Result(1, 2, 3), new Allocate(1, 16, BlockHashes.of(1)))) {
                ReactiveConnection connection = connectWhenFree(pair, sessions++);
                expectRefusal(connection, () -> send(new ControlLink(connection), message));
            }
            await().atMost(LoopbackPair.BOUND).until(() -> pair.reports().size() == 5);
            assertThat(pair.reports())
                    .allSatisfy(report -> assertThat(report.error()).isInstanceOf(MalformedMessageException.class));
        }
    }

    @Test
    void whenTheDecodeSideGoesAwayTheReplayFails() {
        try (LoopbackPair pair = new LoopbackPair(MODEL, 64)) {
            PrefillSession session = pair.open(MODEL);
            pair.close();
            assertThatThrownBy(
                            () -> LoopbackPair.await(session.replay(0, request(500, 1), PageMover.Phases.OVERLAPPING)))
                    .isInstanceOf(ConnectionLostException.class);
        }
    }

    private static void expectRefusal(ReactiveConnection connection, Runnable provocation) throws InterruptedException {
        BlockingQueue<ControlMessage> answers = new LinkedBlockingQueue<>();
        new ControlLink(connection).received().subscribe(answers::add, error -> {});
        provocation.run();
        assertThat(Patience.take("an answer", answers))
                .isInstanceOfSatisfying(
                        Refused.class, refused -> assertThat(refused.reason()).isEqualTo(RefusalReason.PROTOCOL));
        connection.ended().onErrorComplete().block(LoopbackPair.BOUND);
    }

    /** The decode side frees an ended session's memory, and reports it, before it serves the next. */
    private static ReactiveConnection connectWhenFree(LoopbackPair pair, int endedSessions) {
        Patience.until("the sessions before have ended", () -> pair.reports().size() == endedSessions);
        return pair.connect();
    }

    private static void send(ControlLink link, ControlMessage message) {
        link.send(message).block(LoopbackPair.BOUND);
    }

    private static TraceRequest request(int tokens, long... hashes) {
        return new TraceRequest(0, tokens, 1, BlockHashes.of(hashes));
    }
}
