package io.sluice.engine.flow;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.InlineOperations;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.WriteVisibility;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A real flow between a loop and an endpoint that do one thing at a time, when a test says so: so that a test decides in
 * which order submissions, completions, cancels, deadlines and the end of the connection meet. Any thread may start and
 * cancel transfers; the rest is for one thread at a time.
 */
final class SteppedFlow {
    static final int TRANSFER_BYTES = 8;

    private static final RemoteKey REMOTE = new RemoteKey(0, 0, 0);
    private static final int OPERATIONS = 1024;
    private static final long BYTES = 1 << 20;
    private static final EngineOptions OPTIONS = PatientOptions.builder().build();

    final SteppedLoop loop = new SteppedLoop();
    final AcknowledgedRequests endpoint = new AcknowledgedRequests();
    final CountedLeases memory = new CountedLeases();
    final ConnectionCounters counters = ConnectionCounters.alone();
    final ConnectionFlow flow;

    /** Alone on an engine with credits for everything. */
    SteppedFlow() {
        this(new EngineWindow(OPERATIONS, BYTES));
    }

    /** The flow hands its connection out and does nothing else with it, so there is none. */
    SteppedFlow(EngineWindow engineWindow) {
        flow = new ConnectionFlow(
                null,
                loop,
                OPTIONS,
                engineWindow,
                List.of(new FlowPath(0, new Capabilities(BYTES, true), endpoint, counters)),
                new ClosedChannel(),
                1);
    }

    /** The flow's path, if callers carried out one transfer of it at a time. */
    List<FlowPath> callerThreadPath() {
        return List.of(new FlowPath(0, new Capabilities(BYTES, true, TRANSFER_BYTES), endpoint, counters));
    }

    /** A write of a few bytes, not started. */
    FlowTransfer write(TransferOptions options, TransferCallback callback) {
        return (FlowTransfer) new TransferFactory(flow).single(WorkRequest.Opcode.WRITE, element(), options, callback);
    }

    /** A write of many elements of a few bytes each, not started. */
    FlowTransfer vectoredWrite(int elements, VectoredTransferCallback callback) {
        ElementPlan[] plan = new ElementPlan[elements];
        Arrays.setAll(plan, i -> element());
        return (FlowTransfer) new TransferFactory(flow)
                .vectored(WorkRequest.Opcode.WRITE, plan, TransferOptions.defaults(), callback);
    }

    private ElementPlan element() {
        return new ElementPlan(memory, 0, REMOTE, 0, TRANSFER_BYTES);
    }

    /** Starts a transfer that may have run before. */
    static void start(FlowTransfer transfer) {
        ((DataTransfer) transfer).start();
    }

    /** Runs what was handed over and completes what was posted, until nothing is left. */
    void settle() {
        boolean worked;
        do {
            worked = loop.runNext();
            worked |= completeNext();
        } while (worked);
    }

    /** The oldest request that the endpoint holds has ended; false if it holds none. */
    boolean completeNext() {
        WorkRequest request = endpoint.held.pollFirst();
        if (request == null) {
            return false;
        }
        flow.completed(request, CompletionStatus.SUCCESS);
        return true;
    }

    /** The connection ends, as its session would end it. */
    void end() {
        flow.stop(new ConnectionEnd(ConnectionEnd.Kind.CLOSED_HERE, "the test closes it", null));
        endpoint.close();
        WorkRequest request;
        while ((request = endpoint.held.pollFirst()) != null) {
            flow.completed(request, CompletionStatus.FLUSHED);
        }
        flow.endAll();
    }

    /** Whether every credit, lease and place among the pending ones has come back, and nothing was posted after the end. */
    boolean isAtRest() {
        return flow.window().operations() == 0
                && flow.window().bytes() == 0
                && flow.pending() == 0
                && memory.leases() == 0
                && !endpoint.hasPosted()
                && !endpoint.postedAfterTheEnd
                && !loop.hasTask()
                && !loop.hasDeadline();
    }

    /** One whose completed writes are acknowledged, and made visible when that is asked for. */
    static final class AcknowledgedRequests extends HeldRequests implements WriteVisibility {
        private final ArrayDeque<Runnable> invisible = new ArrayDeque<>();

        /** Whether what has completed stays invisible at the target until {@link #makeAllVisible}. */
        boolean holdsVisibility;

        /** Makes visible what was asked to be until now. */
        void makeAllVisible() {
            Runnable done;
            while ((done = invisible.pollFirst()) != null) {
                done.run();
            }
        }

        @Override
        public void makeVisible(Runnable done) {
            if (holdsVisibility) {
                invisible.addLast(done);
            } else {
                done.run();
            }
        }
    }

    /** An endpoint that takes everything and lets it lie. */
    static class HeldRequests implements Endpoint, InlineOperations {
        final ArrayDeque<WorkRequest> held = new ArrayDeque<>();
        private boolean closed;
        boolean postedAfterTheEnd;

        /** The inline execution of a transfer on the calling thread; returns whether it was possible. */
        BooleanSupplier carriesOut = () -> false;

        boolean hasPosted() {
            return !held.isEmpty();
        }

        /** How many requests it holds. */
        int posted() {
            return held.size();
        }

        @Override
        public int post(WorkRequest[] batch, int from, int count) {
            postedAfterTheEnd |= closed;
            for (int i = from; i < from + count; i++) {
                held.addLast(batch[i]);
            }
            return count;
        }

        @Override
        public boolean execute(
                WorkRequest.Opcode operation,
                RegionMemory local,
                long localOffset,
                RemoteKey remote,
                long remoteOffset,
                long length) {
            return carriesOut.getAsBoolean();
        }

        @Override
        public byte[] offer() {
            return new byte[0];
        }

        @Override
        public void begin(byte[] peerOffer) {}

        @Override
        public void close() {
            closed = true;
        }

        @Override
        public boolean isQuiescent() {
            return held.isEmpty();
        }
    }

    /** Memory that is never closed. */
    static final class CountedLeases implements LeasedMemory {
        private static final RegionMemory NOTHING = RegionMemory.host(MemorySegment.NULL);

        private final AtomicInteger leases = new AtomicInteger();

        int leases() {
            return leases.get();
        }

        @Override
        public @Nullable RegisteredMemory registration(int transport) {
            return null;
        }

        @Override
        public boolean acquire() {
            leases.incrementAndGet();
            return true;
        }

        @Override
        public void release() {
            leases.decrementAndGet();
        }

        @Override
        public RegionMemory memory() {
            return NOTHING;
        }
    }

    private static final class ClosedChannel implements NotificationSender {
        @Override
        public boolean hasRoom() {
            return false;
        }

        @Override
        public void send(byte[] payload) {
            throw new UnsupportedOperationException("it has no room");
        }
    }
}
