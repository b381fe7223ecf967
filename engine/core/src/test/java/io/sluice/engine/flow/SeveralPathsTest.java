package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.WriteVisibility;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Interactions between the paths of one flow. */
class SeveralPathsTest {
    private static final int BYTES = 8;
    private static final int WINDOW_OPERATIONS = 32;
    private static final int WINDOW_BYTES = 1 << 20;
    private static final int CHUNK = WINDOW_BYTES / 8;
    private static final long ENGINE_BYTES = 1 << 30;

    private final SteppedLoop loop = new SteppedLoop();
    private final Takes first = new Takes();
    private final Takes second = new Takes();
    private final SteppedFlow.CountedLeases memory = new SteppedFlow.CountedLeases();
    private final EngineWindow engineWindow = new EngineWindow(1024, ENGINE_BYTES);
    private final ConnectionFlow flow;
    private int ended;

    @SuppressWarnings("NullAway") // the flow hands its connection out and does nothing else with it
    SeveralPathsTest() {
        flow = new ConnectionFlow(
                null,
                loop,
                PatientOptions.builder()
                        .windowOperations(WINDOW_OPERATIONS)
                        .windowBytes(WINDOW_BYTES)
                        .build(),
                engineWindow,
                List.of(path(first), path(second)),
                new NotificationSender() {
                    @Override
                    public boolean hasRoom() {
                        return true;
                    }

                    @Override
                    public void send(byte[] payload) {}
                },
                1);
    }

    private static FlowPath path(Takes endpoint) {
        return new FlowPath(0, new Capabilities(1 << 20, true, 8 * BYTES), endpoint, endpoint.counters);
    }

    /** An endpoint that may have no room, and whose writes are acknowledged before they are visible. */
    private static final class Takes extends SteppedFlow.HeldRequests implements WriteVisibility {
        private final ConnectionCounters counters = ConnectionCounters.alone();
        private final List<Runnable> asked = new ArrayList<>();
        private boolean full;
        private int calls;

        @Override
        public int post(WorkRequest[] batch, int from, int count) {
            calls++;
            return full ? 0 : super.post(batch, from, count);
        }

        @Override
        public void makeVisible(Runnable done) {
            asked.add(done);
        }
    }

    private static RemoteKey key(int path) {
        RemoteKey key = new RemoteKey(0, 0, 0);
        key.path(path);
        return key;
    }

    private ElementPlan over(int path) {
        return over(path, BYTES);
    }

    private ElementPlan over(int path, long length) {
        return new ElementPlan(memory, 0, key(path), 0, length);
    }

    private void write(int path) {
        write(path, BYTES);
    }

    private void write(int path, long length) {
        write(path, length, this::succeeded);
    }

    private Transfer write(int path, long length, TransferCallback callback) {
        FlowTransfer write = (FlowTransfer) new TransferFactory(flow)
                .single(WorkRequest.Opcode.WRITE, over(path, length), TransferOptions.defaults(), callback);
        SteppedFlow.start(write);
        return write;
    }

    /** A write over the first path with a signal over the second. */
    private FlowTransfer writeWithWeakSignal(TransferCallback callback) {
        return (FlowTransfer) new TransferFactory(flow)
                .signalling(
                        over(0), new SignalPlan(key(1), 0, 1, SignalOrder.WEAK), TransferOptions.defaults(), callback);
    }

    private void succeeded(Transfer transfer, @Nullable SluiceException error) {
        assertThat(error).isNull();
        ended++;
    }

    private void write(ElementPlan... elements) {
        SteppedFlow.start((FlowTransfer) new TransferFactory(flow)
                .vectored(
                        WorkRequest.Opcode.WRITE, elements, TransferOptions.defaults(), new VectoredTransferCallback() {
                            @Override
                            public void element(int index, @Nullable SluiceException error) {}

                            @Override
                            public void terminated(Transfer transfer, @Nullable SluiceException error) {
                                assertThat(error).isNull();
                                ended++;
                            }
                        }));
    }

    private void run() {
        while (loop.runNext()) {
            // until nothing is left
        }
    }

    private void complete(Takes path) {
        WorkRequest request;
        while ((request = path.held.pollFirst()) != null) {
            flow.completed(request, CompletionStatus.SUCCESS);
        }
        run();
    }

    @Test
    void whatGoesOverAPathWithoutRoomHoldsUpNothingOfAnother() {
        first.full = true;
        write(0);
        run();
        // the second is not even cut into chunks, as its path has left something
        write(0);
        write(1);
        run();
        assertThat(second.posted()).isOne();
        complete(second);
        assertThat(ended).isOne();
        write(1);
        run();
        complete(second);
        assertThat(ended).isEqualTo(2);
        first.full = false;
        flow.postable(0);
        assertThat(first.posted()).isEqualTo(2);
        complete(first);
        assertThat(ended).isEqualTo(4);
        assertThat(flow.window().operations()).isZero();
    }

    /** A chunk that waits for room keeps its size: another path gets its credits. */
    @ParameterizedTest
    @ValueSource(ints = {BYTES, CHUNK})
    void aPathWithoutRoomLeavesCreditsToAnother(int length) {
        first.full = true;
        for (int i = 0; i < 2 * WINDOW_OPERATIONS; i++) {
            write(0, length);
        }
        run();
        for (int i = 1; i <= 3; i++) {
            write(1, length);
            run();
            assertThat(second.posted()).isOne();
            complete(second);
            assertThat(ended).isEqualTo(i);
        }
        // all of the window, if it needs that
        for (int i = 0; i < WINDOW_BYTES / CHUNK; i++) {
            write(1, CHUNK);
        }
        run();
        assertThat(flow.window().bytes()).isEqualTo(WINDOW_BYTES);
        complete(second);
        first.full = false;
        flow.postable(0);
        while (first.hasPosted()) {
            complete(first);
        }
        assertThat(ended).isEqualTo(3 + WINDOW_BYTES / CHUNK + 2 * WINDOW_OPERATIONS);
        assertThat(flow.window().operations()).isZero();
        assertThat(flow.window().bytes()).isZero();
    }

    /** Else small ones could overtake a large one for ever that has given its credits back. */
    @Test
    void whatHasRoomAgainWaitsForNoMoreThanWhatIsPosted() {
        first.full = true;
        write(0, CHUNK);
        run();
        for (int i = 0; i < 2 * WINDOW_BYTES / CHUNK; i++) {
            write(1, CHUNK / 2 + 1);
        }
        run();
        int before = second.posted();
        assertThat(before).isGreaterThan(WINDOW_BYTES / CHUNK);
        first.full = false;
        flow.postable(0);
        assertThat(first.posted()).isZero();
        flow.completed(second.held.removeFirst(), CompletionStatus.SUCCESS);
        run();
        assertThat(second.posted()).isEqualTo(before - 1);
        flow.completed(second.held.removeFirst(), CompletionStatus.SUCCESS);
        run();
        assertThat(first.posted()).isOne();
        while (first.hasPosted() || second.hasPosted()) {
            complete(first);
            complete(second);
        }
        assertThat(ended).isEqualTo(1 + 2 * WINDOW_BYTES / CHUNK);
        assertThat(flow.window().bytes()).isZero();
    }

    @Test
    void creditsThatComeBackGoToWhatWaitsForThemAlone() {
        first.full = true;
        for (int i = 0; i < WINDOW_OPERATIONS; i++) {
            write(0);
        }
        run();
        for (int i = 0; i < WINDOW_OPERATIONS; i++) {
            write(1);
        }
        run();
        assertThat(second.posted()).isEqualTo(WINDOW_OPERATIONS);
        first.full = false;
        flow.postable(0);
        assertThat(first.posted()).isZero();
        int before = first.calls;
        complete(second);
        assertThat(first.posted()).isEqualTo(WINDOW_OPERATIONS);
        assertThat(first.calls).isEqualTo(before + 1);
        complete(first);
        assertThat(ended).isEqualTo(2 * WINDOW_OPERATIONS);
    }

    /** The path is found to be full only after the others were looked at. */
    @Test
    void whatAPathIsLeftWithGivesCreditsToWhatWasSubmittedWithIt() {
        first.full = true;
        for (int i = 0; i < WINDOW_OPERATIONS; i++) {
            write(0);
        }
        write(1);
        run();
        assertThat(second.posted()).isOne();
        complete(second);
        assertThat(ended).isOne();
    }

    /** Else it would give them back in each run, which wakes the next, and lose the place in the engine's queue. */
    @Test
    void aPathWithoutRoomTakesNoCreditsThatAnotherWaitsForInTheEnginesQueue() {
        AtomicInteger woken = new AtomicInteger();
        CreditWaiter other = woken::incrementAndGet;
        long taken = ENGINE_BYTES - CHUNK / 2;
        assertThat(engineWindow.tryAcquireBytes(other, taken)).isTrue();
        first.full = true;
        write(0);
        run();
        write(1, CHUNK);
        for (int i = 0; i < 10; i++) {
            loop.runNext();
        }
        assertThat(loop.hasTask()).isFalse();
        engineWindow.awaitBytes(other);
        // as a submission or completion would have it do
        flow.postable(1);
        assertThat(woken.get()).isZero();
        engineWindow.release(0, taken);
        run();
        assertThat(second.posted()).isOne();
        engineWindow.leaveBytes(other);
        first.full = false;
        flow.postable(0);
        complete(first);
        complete(second);
        assertThat(ended).isEqualTo(2);
        assertThat(flow.window().bytes()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void creditsAreInBalanceHoweverPathsStall(long seed) {
        Random random = new Random(seed);
        Takes[] paths = {first, second};
        List<Transfer> started = new ArrayList<>();
        for (int step = 0; step < 5000; step++) {
            int path = random.nextInt(2);
            switch (random.nextInt(7)) {
                case 0 -> {
                    paths[path].full = random.nextBoolean();
                    if (!paths[path].full) {
                        flow.postable(path);
                    }
                }
                case 1, 2 -> {
                    int length = 1 + random.nextInt(random.nextBoolean() ? 64 : 4 * CHUNK);
                    started.add(write(path, length, (transfer, error) -> ended++));
                }
                case 3 -> run();
                case 4 -> {
                    if (!started.isEmpty()) {
                        started.get(random.nextInt(started.size())).cancel();
                    }
                }
                default -> {
                    WorkRequest request = paths[path].held.pollFirst();
                    if (request != null) {
                        flow.completed(request, CompletionStatus.SUCCESS);
                    }
                }
            }
            int posted = first.posted() + second.posted();
            long bytes = Stream.concat(first.held.stream(), second.held.stream())
                    .mapToLong(WorkRequest::length)
                    .sum();
            assertThat(flow.window().bytes()).isBetween(bytes, (long) WINDOW_BYTES);
            assertThat(flow.window().operations()).isBetween(Math.min(1, posted), WINDOW_OPERATIONS);
        }
        for (int path = 0; path < 2; path++) {
            paths[path].full = false;
            flow.postable(path);
        }
        run();
        while (first.hasPosted() || second.hasPosted()) {
            complete(first);
            complete(second);
        }
        assertThat(ended).isEqualTo(started.size());
        assertThat(flow.window().operations()).isZero();
        assertThat(flow.window().bytes()).isZero();
        assertThat(memory.leases()).isZero();
    }

    @Test
    void elementThatWaitsForItsPathHoldsUpItsOwnTransferAlone() {
        first.full = true;
        write(0);
        run();
        write(over(1), over(0), over(1));
        write(1);
        run();
        assertThat(second.posted()).isEqualTo(2);
        complete(second);
        assertThat(ended).isOne();
        first.full = false;
        flow.postable(0);
        assertThat(first.posted()).isEqualTo(2);
        assertThat(second.posted()).isOne();
        complete(first);
        complete(second);
        assertThat(ended).isEqualTo(3);
        assertThat(memory.leases()).isZero();
    }

    @Test
    void theEndFindsWhatHasGivenItsCreditsBack() {
        first.full = true;
        List<Throwable> errors = new ArrayList<>();
        for (int i = 0; i < WINDOW_OPERATIONS; i++) {
            write(0, BYTES, (transfer, error) -> errors.add(error));
        }
        run();
        write(1);
        run();
        assertThat(flow.window().operations()).isOne();
        flow.stop(new ConnectionEnd(ConnectionEnd.Kind.CLOSED_HERE, "the test closes it", null));
        complete(second);
        flow.endAll();
        assertThat(ended).isOne();
        assertThat(errors).hasSize(WINDOW_OPERATIONS).doesNotContainNull();
        assertThat(flow.window().operations()).isZero();
        assertThat(flow.window().bytes()).isZero();
        assertThat(memory.leases()).isZero();
    }

    @Test
    void theEndFindsWhatWaitsForAPathWithoutRoom() {
        first.full = true;
        second.full = true;
        List<Throwable> errors = new ArrayList<>();
        for (int path : new int[] {0, 1, 0, 1}) {
            SteppedFlow.start((FlowTransfer) new TransferFactory(flow)
                    .single(
                            WorkRequest.Opcode.WRITE,
                            over(path),
                            TransferOptions.defaults(),
                            (transfer, error) -> errors.add(error)));
            run();
        }
        flow.stop(new ConnectionEnd(ConnectionEnd.Kind.CLOSED_HERE, "the test closes it", null));
        flow.endAll();
        assertThat(errors).hasSize(4).doesNotContainNull();
        assertThat(flow.window().operations()).isZero();
        assertThat(memory.leases()).isZero();
    }

    /** One of the paths may not carry it out there, and what the other had carried out by then would go twice. */
    @Test
    void callerCarriesOutNothingThatGoesOverSeveralPaths() {
        AtomicInteger copies = new AtomicInteger();
        first.carriesOut = () -> copies.incrementAndGet() > 0;
        write(over(0), over(0));
        assertThat(copies).hasValue(2);
        assertThat(ended).isOne();
        write(over(0), over(1));
        assertThat(copies).hasValue(2);
        run();
        assertThat(first.posted()).isOne();
        assertThat(second.posted()).isOne();
        complete(first);
        complete(second);
        assertThat(ended).isEqualTo(2);
        assertThat(second.counters.transport().operations(Operation.WRITE, Outcome.SUCCESS))
                .isOne();
    }

    @Test
    void elementsThatAreRefusedCountForTheirPaths() {
        flow.refuse(new ConnectionEnd(ConnectionEnd.Kind.CLOSED_HERE, "the test closes it", null));
        assertThatThrownBy(() -> write(over(0), over(1), over(1))).isInstanceOf(SluiceException.class);
        assertThat(first.counters.refused().operations(Operation.WRITE)).isOne();
        assertThat(first.counters.refused().bytes(Operation.WRITE)).isEqualTo(BYTES);
        assertThat(second.counters.refused().operations(Operation.WRITE)).isEqualTo(2);
        assertThat(second.counters.refused().bytes(Operation.WRITE)).isEqualTo(2 * BYTES);
    }

    @Test
    void flushWaitsForCompletionsAlone() {
        write(0);
        write(1);
        CompletableFuture<Void> flush = flow.flush();
        run();
        complete(first);
        assertThat(flush).isNotDone();
        complete(second);
        assertThat(flush).isCompleted();
        assertThat(first.asked).isEmpty();
        assertThat(second.asked).isEmpty();
    }

    @Test
    void quietAsksEachPathOnce() {
        write(0);
        write(1);
        CompletableFuture<Void> quiet = flow.quiet();
        run();
        complete(first);
        complete(second);
        assertThat(first.asked).hasSize(1);
        assertThat(second.asked).hasSize(1);
        first.asked.getFirst().run();
        assertThat(quiet).isNotDone();
        second.asked.getFirst().run();
        assertThat(quiet).isCompleted();
        assertThat(first.asked).hasSize(1);
        assertThat(second.asked).hasSize(1);
    }

    @Test
    void weakSignalOverAnotherPathWaitsForItsOwnBytesAlone() {
        write(0);
        write(1);
        SteppedFlow.start(writeWithWeakSignal(this::succeeded));
        run();
        assertThat(first.posted()).isEqualTo(2);
        assertThat(second.posted()).isOne();
        flow.completed(first.held.removeLast(), CompletionStatus.SUCCESS);
        run();
        assertThat(second.posted()).isOne();
        assertThat(first.asked).hasSize(1);
        assertThat(second.asked).isEmpty();
        first.asked.getFirst().run();
        run();
        assertThat(second.posted()).isEqualTo(2);
        complete(second);
        assertThat(ended).isEqualTo(2);
    }

    @Test
    void weakSignalThatWaitsForVisibilityEndsWithTheConnection() {
        List<Throwable> errors = new ArrayList<>();
        SteppedFlow.start(writeWithWeakSignal((transfer, error) -> errors.add(error)));
        run();
        complete(first);
        assertThat(errors).isEmpty();
        flow.stop(new ConnectionEnd(ConnectionEnd.Kind.LOST, "the test cuts it", null));
        flow.endAll();
        assertThat(errors).singleElement().isInstanceOf(OutcomeUnknownException.class);
        assertThat(flow.pending()).isZero();
    }

    @Test
    void visibilityOfACancelledRunLetsNoLaterOneGo() {
        List<Throwable> errors = new ArrayList<>();
        FlowTransfer prepared = writeWithWeakSignal((transfer, error) -> errors.add(error));
        SteppedFlow.start(prepared);
        run();
        complete(first);
        prepared.cancel();
        run();
        assertThat(errors).singleElement().isInstanceOf(TransferCancelledException.class);
        SteppedFlow.start(prepared);
        run();
        complete(first);
        assertThat(first.asked).hasSize(2);
        first.asked.get(0).run();
        run();
        assertThat(second.posted()).isZero();
        first.asked.get(1).run();
        run();
        complete(second);
        assertThat(errors).hasSize(2).last().isNull();
    }

    /** A flush lets its group go without visibility, and what follows it needs that nevertheless. */
    @Test
    void notificationBehindAFlushComesAfterTheWritesAreVisible() {
        write(1);
        CompletableFuture<Void> flush = flow.flush();
        flow.submitNotification(new byte[0], TransferOptions.defaults(), (transfer, error) -> ended++);
        run();
        complete(second);
        assertThat(flush).isCompleted();
        assertThat(second.asked).hasSize(1);
        assertThat(flow.notificationsWaiting()).isOne();
        first.asked.getFirst().run();
        second.asked.getFirst().run();
        run();
        assertThat(flow.notificationsWaiting()).isZero();
    }
}
