package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the paths of one flow do to each other. */
class SeveralPathsTest {
    private static final int BYTES = 8;

    private final SteppedLoop loop = new SteppedLoop();
    private final Takes first = new Takes();
    private final Takes second = new Takes();
    private final SteppedFlow.CountedLeases memory = new SteppedFlow.CountedLeases();
    private final ConnectionFlow flow;
    private int ended;

    @SuppressWarnings("NullAway") // the flow hands its connection out and does nothing else with it
    SeveralPathsTest() {
        flow = new ConnectionFlow(
                null,
                loop,
                PatientOptions.builder().build(),
                new EngineWindow(1024, 1 << 20),
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

        @Override
        public int post(WorkRequest[] batch, int from, int count) {
            return full ? 0 : super.post(batch, from, count);
        }

        @Override
        public void makeVisible(Runnable done) {
            asked.add(done);
        }
    }

    private ElementPlan over(int path) {
        RemoteKey key = new RemoteKey(0, 0, 0);
        key.path(path);
        return new ElementPlan(memory, 0, key, 0, BYTES);
    }

    private void write(int path) {
        SteppedFlow.start((FlowTransfer) new TransferFactory(flow)
                .single(WorkRequest.Opcode.WRITE, over(path), TransferOptions.defaults(), (transfer, error) -> {
                    assertThat(error).isNull();
                    ended++;
                }));
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
        flow.postable();
        assertThat(first.posted()).isEqualTo(2);
        complete(first);
        assertThat(ended).isEqualTo(4);
        assertThat(flow.window().operations()).isZero();
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
        flow.postable();
        assertThat(first.posted()).isEqualTo(2);
        assertThat(second.posted()).isOne();
        complete(first);
        complete(second);
        assertThat(ended).isEqualTo(3);
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
