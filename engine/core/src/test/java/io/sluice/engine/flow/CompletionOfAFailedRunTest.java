package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.SluiceException;
import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.StreamOrder;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A run whose success a device reports; a part of it fails while another waits for room. */
class CompletionOfAFailedRunTest {
    private static final int BYTES = 8;

    private final SteppedLoop loop = new SteppedLoop();
    private final Device endpoint = new Device();
    private final SteppedFlow.CountedLeases memory = new SteppedFlow.CountedLeases();
    private final Told event = new Told();
    private final List<SluiceException> errors = new ArrayList<>();
    private final ConnectionFlow flow;

    @SuppressWarnings("NullAway") // the flow hands its connection out and does nothing else with it
    CompletionOfAFailedRunTest() {
        flow = new ConnectionFlow(
                null,
                loop,
                PatientOptions.builder().build(),
                new EngineWindow(1024, 1 << 20),
                List.of(new FlowPath(0, new Capabilities(1 << 20, true), endpoint, ConnectionCounters.alone())),
                new NotificationSender() {
                    @Override
                    public boolean hasRoom() {
                        return false;
                    }

                    @Override
                    public void send(byte[] payload) {
                        throw new UnsupportedOperationException();
                    }
                },
                1);
    }

    /** Takes as many requests as it has room for, and would complete events on its device. */
    private static final class Device extends SteppedFlow.HeldRequests implements StreamOrder {
        private int room = 1;

        @Override
        public int post(WorkRequest[] batch, int from, int count) {
            int taken = Math.min(room, count);
            room -= taken;
            return super.post(batch, from, taken);
        }

        @Override
        public boolean ordersAfter(StreamEvent event) {
            return false;
        }

        @Override
        public boolean completesInto(StreamCompletion event) {
            return true;
        }
    }

    /** A completion that records its outcomes. */
    private static final class Told implements StreamCompletion {
        private final List<@Nullable SluiceException> outcomes = new ArrayList<>();

        @Override
        public long handle() {
            return 1;
        }

        @Override
        public String device() {
            return "a device";
        }

        @Override
        public void complete(@Nullable SluiceException error) {
            outcomes.add(error);
        }
    }

    private void writeTwoElements() {
        ElementPlan element = new ElementPlan(memory, 0, new RemoteKey(0, 0, 0), 0, BYTES);
        SteppedFlow.start((FlowTransfer) new TransferFactory(flow)
                .vectored(
                        WorkRequest.Opcode.WRITE,
                        new ElementPlan[] {element, element},
                        TransferOptions.defaults().completeInto(event),
                        new VectoredTransferCallback() {
                            @Override
                            public void element(int index, @Nullable SluiceException error) {}

                            @Override
                            public void terminated(Transfer transfer, @Nullable SluiceException error) {
                                if (error != null) {
                                    errors.add(error);
                                }
                            }
                        }));
        while (loop.runNext()) {
            // until nothing is left
        }
    }

    private WorkRequest taken() {
        assertThat(endpoint.posted()).isOne();
        return endpoint.held.removeFirst();
    }

    @Test
    void whatIsOfferedAfterTheFailureCarriesNoEvent() {
        writeTwoElements();
        WorkRequest failing = taken();
        assertThat(failing.completesInto()).isSameAs(event);
        flow.completed(failing, CompletionStatus.ACCESS_DENIED);
        endpoint.room = 1;
        flow.postable(0);
        WorkRequest other = taken();
        assertThat(other.completesInto()).isNull();
        flow.completed(other, CompletionStatus.SUCCESS);
        assertThat(errors).hasSize(1);
        assertThat(event.outcomes).isEqualTo(errors);
        assertThat(memory.leases()).isZero();
    }

    @Test
    void whatIsOfferedAgainWithoutAFailureStillCarriesIt() {
        writeTwoElements();
        flow.completed(taken(), CompletionStatus.SUCCESS);
        endpoint.room = 1;
        flow.postable(0);
        WorkRequest other = taken();
        assertThat(other.completesInto()).isSameAs(event);
        assertThat(other.isLastOfCompletion()).isTrue();
        flow.completed(other, CompletionStatus.SUCCESS);
        assertThat(errors).isEmpty();
        assertThat(event.outcomes).isEmpty();
    }
}
