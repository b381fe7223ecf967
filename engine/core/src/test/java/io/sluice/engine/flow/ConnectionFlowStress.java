package io.sluice.engine.flow;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferOptions;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIZ_Result;
import org.openjdk.jcstress.infra.results.IZ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Threads start, cancel and ask while the poller works. Outcomes that are not listed are forbidden. */
final class ConnectionFlowStress {
    private static final int LOOKS = 10;

    private ConnectionFlowStress() {}

    /** A flow whose terminal signals are counted. */
    private static class CountedFlow {
        final SteppedFlow stepped = new SteppedFlow();
        final ConnectionFlow flow = stepped.flow;
        final AtomicInteger ends = new AtomicInteger();

        FlowTransfer write() {
            return write(TransferOptions.defaults());
        }

        FlowTransfer write(TransferOptions options) {
            return stepped.write(options, (transfer, error) -> ends.incrementAndGet());
        }

        FlowTransfer started() {
            FlowTransfer transfer = write();
            SteppedFlow.start(transfer);
            return transfer;
        }

        /** Started and posted, but not completed. */
        FlowTransfer posted() {
            FlowTransfer transfer = started();
            stepped.loop.runNext();
            return transfer;
        }
    }

    /** A transfer is handed over while the poller looks at the one before. */
    @JCStressTest
    @Outcome(id = "2, true", expect = ACCEPTABLE, desc = "Both end.")
    @Outcome(id = "1, .*", expect = FORBIDDEN, desc = "One lies in the mailbox, and no run looks.")
    @State
    public static class HandOverAgainstThePollersLook extends CountedFlow {
        public HandOverAgainstThePollersLook() {
            started();
        }

        @Actor
        public void submit() {
            started();
        }

        // again and again, so that it meets the submission wherever that is
        @Actor
        public void poller() {
            for (int look = 0; look < LOOKS; look++) {
                stepped.settle();
            }
        }

        @Arbiter
        public void rest(IZ_Result r) {
            stepped.settle();
            r.r1 = ends.get();
            r.r2 = stepped.isAtRest();
        }
    }

    /** Two threads hand over while the poller looks. */
    @JCStressTest
    @Outcome(id = "2, true", expect = ACCEPTABLE, desc = "Both end.")
    @Outcome(id = "[01], .*", expect = FORBIDDEN, desc = "One lies in the mailbox, and no run looks.")
    @State
    public static class TwoHandOversAgainstThePollersLook extends CountedFlow {
        @Actor
        public void one() {
            started();
        }

        @Actor
        public void other() {
            started();
        }

        @Actor
        public void poller() {
            stepped.settle();
        }

        @Arbiter
        public void rest(IZ_Result r) {
            stepped.settle();
            r.r1 = ends.get();
            r.r2 = stepped.isAtRest();
        }
    }

    /** A cancel meets the completion. */
    @JCStressTest
    @Outcome(id = "1, true", expect = ACCEPTABLE, desc = "One terminal signal.")
    @Outcome(id = "[02], .*", expect = FORBIDDEN, desc = "No terminal signal, or two.")
    @Outcome(id = "1, false", expect = FORBIDDEN, desc = "A credit, a lease or a place is lost.")
    @State
    public static class CancelAgainstCompletion extends CountedFlow {
        private final FlowTransfer transfer = posted();

        @Actor
        public void cancel() {
            transfer.cancel();
        }

        @Actor
        public void poller() {
            stepped.settle();
        }

        @Arbiter
        public void rest(IZ_Result r) {
            stepped.settle();
            r.r1 = ends.get();
            r.r2 = stepped.isAtRest();
        }
    }

    /** A cancel meets the start, on a connection where nothing completes by itself. */
    @JCStressTest
    @Outcome(id = "1, true", expect = ACCEPTABLE, desc = "The cancel ends it.")
    @Outcome(id = "0, false", expect = ACCEPTABLE, desc = "The cancel came too early.")
    @Outcome(id = "0, true", expect = FORBIDDEN, desc = "The cancel is lost, as it has overtaken the submission.")
    @State
    public static class StartAgainstCancel extends CountedFlow {
        private final FlowTransfer transfer = write();

        @Actor
        public void start() {
            SteppedFlow.start(transfer);
        }

        @Actor
        public void cancel() {
            transfer.cancel();
        }

        @Actor
        public void poller() {
            stepped.loop.runNext();
        }

        @Arbiter
        public void rest(IZ_Result r) {
            while (stepped.loop.hasTask()) {
                stepped.loop.runNext();
            }
            r.r1 = ends.get();
            r.r2 = transfer.isCancelRequested();
        }
    }

    /** A cancel meets the end of a run whose callback begins the next one. */
    @JCStressTest
    @Outcome(id = "2, 0, true", expect = ACCEPTABLE, desc = "Each run has its terminal signal.")
    @Outcome(id = "[013], .*", expect = FORBIDDEN, desc = "A run without its terminal signal, or with two.")
    @Outcome(id = ".*, 1, .*", expect = FORBIDDEN, desc = "A callback cannot start what has just ended well.")
    @State
    public static class CancelAgainstRestart {
        private final SteppedFlow stepped = new SteppedFlow();
        private final AtomicInteger ends = new AtomicInteger();
        private final AtomicInteger refused = new AtomicInteger();
        private final FlowTransfer transfer = stepped.write(TransferOptions.defaults(), (ended, error) -> {
            // cancelled while it is posted, it cannot be started again at once
            if (ends.incrementAndGet() == 1 && error == null) {
                try {
                    SteppedFlow.start((FlowTransfer) ended);
                } catch (IllegalStateException e) {
                    refused.incrementAndGet();
                }
            }
        });

        public CancelAgainstRestart() {
            SteppedFlow.start(transfer);
            stepped.loop.runNext();
        }

        @Actor
        public void cancel() {
            transfer.cancel();
        }

        @Actor
        public void poller() {
            stepped.settle();
        }

        @Arbiter
        public void rest(IIZ_Result r) {
            stepped.settle();
            if (ends.get() == 1) {
                SteppedFlow.start(transfer);
                stepped.settle();
            }
            r.r1 = ends.get();
            r.r2 = refused.get();
            r.r3 = stepped.isAtRest();
        }
    }

    /** The next run begins while the poller reads a cancel that came too late for the last one. */
    @JCStressTest
    @Outcome(id = "2, 0, true", expect = ACCEPTABLE, desc = "The next run succeeds.")
    @Outcome(id = ".*, [12], .*", expect = FORBIDDEN, desc = "A cancel of the first run counts for the second.")
    @State
    public static class StaleCancelAgainstRestart {
        private final SteppedFlow stepped = new SteppedFlow();
        private final AtomicInteger ends = new AtomicInteger();
        private final AtomicInteger cancelled = new AtomicInteger();
        private final FlowTransfer transfer = stepped.write(TransferOptions.defaults(), (ended, error) -> {
            ends.incrementAndGet();
            if (error != null) {
                cancelled.incrementAndGet();
            }
        });

        public StaleCancelAgainstRestart() {
            SteppedFlow.start(transfer);
            stepped.loop.runNext();
            transfer.cancel();
            stepped.completeNext();
        }

        @Actor
        public void start() {
            SteppedFlow.start(transfer);
        }

        @Actor
        public void poller() {
            stepped.settle();
        }

        @Arbiter
        public void rest(IIZ_Result r) {
            stepped.settle();
            r.r1 = ends.get();
            r.r2 = cancelled.get();
            r.r3 = stepped.isAtRest();
        }
    }

    /** A start meets the end of the connection. */
    @JCStressTest
    @Outcome(id = "1, 0, true", expect = ACCEPTABLE, desc = "It ends with the connection.")
    @Outcome(id = "0, 1, true", expect = ACCEPTABLE, desc = "It is refused.")
    @Outcome(id = "0, 0, .*", expect = FORBIDDEN, desc = "It never ends.")
    @Outcome(id = "1, 1, .*", expect = FORBIDDEN, desc = "It is refused, and ends nevertheless.")
    @State
    public static class StartAgainstClose extends CountedFlow {
        private final FlowTransfer transfer = write();

        @Actor
        public void start(IIZ_Result r) {
            try {
                SteppedFlow.start(transfer);
            } catch (ConnectionClosedException refused) {
                r.r2 = 1;
            }
        }

        @Actor
        public void poller() {
            stepped.end();
        }

        @Arbiter
        public void rest(IIZ_Result r) {
            stepped.settle();
            r.r1 = ends.get();
            r.r3 = stepped.isAtRest();
        }
    }

    /** A start meets a drain, which closes the connection if it finds nothing pending. */
    @JCStressTest
    @Outcome(id = "0, 1, .*", expect = ACCEPTABLE, desc = "It is refused.")
    @Outcome(id = "0, 0, false", expect = ACCEPTABLE, desc = "It is taken, and the drain waits for it.")
    @Outcome(id = "0, 0, true", expect = FORBIDDEN, desc = "It is taken, and the drain does not know of it.")
    @Outcome(id = "1, .*", expect = FORBIDDEN, desc = "A place among the pending ones is lost, or one too many.")
    @State
    public static class StartAgainstDrain extends CountedFlow {
        private final FlowTransfer transfer = write();

        @Actor
        public void start(IIZ_Result r) {
            try {
                SteppedFlow.start(transfer);
            } catch (ConnectionClosedException refused) {
                r.r2 = 1;
            }
        }

        @Actor
        public void poller(IIZ_Result r) {
            flow.refuse(new ConnectionEnd(ConnectionEnd.Kind.CLOSED_HERE, "the test shuts it down", null));
            r.r3 = flow.pending() == 0;
        }

        @Arbiter
        public void rest(IIZ_Result r) {
            r.r1 = Math.abs(flow.pending() - (1 - r.r2));
        }
    }

    /** A cancel meets the end of the connection. */
    @JCStressTest
    @Outcome(id = "1, true", expect = ACCEPTABLE, desc = "One terminal signal.")
    @Outcome(id = "[02], .*", expect = FORBIDDEN, desc = "No terminal signal, or two.")
    @State
    public static class CancelAgainstClose extends CountedFlow {
        private final FlowTransfer transfer = posted();

        @Actor
        public void cancel() {
            transfer.cancel();
        }

        @Actor
        public void poller() {
            stepped.end();
        }

        @Arbiter
        public void rest(IZ_Result r) {
            stepped.settle();
            r.r1 = ends.get();
            r.r2 = stepped.isAtRest();
        }
    }

    /** The event that a transfer starts after happens while it is started, and the poller works. */
    @JCStressTest
    @Outcome(id = "1, true", expect = ACCEPTABLE, desc = "It starts once, and ends.")
    @Outcome(id = "0, .*", expect = FORBIDDEN, desc = "The event is lost.")
    @State
    public static class EventAgainstStart extends CountedFlow {
        private final CompletableFuture<Void> event = new CompletableFuture<>();
        private final FlowTransfer transfer = write(TransferOptions.defaults().startAfter(StartEvent.of(event)));

        @Actor
        public void start() {
            SteppedFlow.start(transfer);
        }

        @Actor
        public void happen() {
            event.complete(null);
        }

        @Actor
        public void poller() {
            stepped.settle();
        }

        @Arbiter
        public void rest(IZ_Result r) {
            stepped.settle();
            r.r1 = ends.get();
            r.r2 = stepped.isAtRest();
        }
    }

    /** The event of a cancelled run happens while the next run begins, which waits for an event of its own. */
    @JCStressTest
    @Outcome(id = "1, 2, true", expect = ACCEPTABLE, desc = "The next run waits for its own event.")
    @Outcome(id = "2, .*", expect = FORBIDDEN, desc = "An event of the first run counts for the second.")
    @Outcome(id = "1, 1, .*", expect = FORBIDDEN, desc = "The second run misses its event.")
    @State
    public static class StaleEventAgainstRestart extends CountedFlow {
        private final Queue<StartEvent.Listener> waiting = new ConcurrentLinkedQueue<>();
        private final FlowTransfer transfer = write(TransferOptions.defaults().startAfter(waiting::add));
        private final StartEvent.Listener stale;

        public StaleEventAgainstRestart() {
            SteppedFlow.start(transfer);
            transfer.cancel();
            stepped.settle();
            stale = waiting.remove();
        }

        @Actor
        public void start() {
            SteppedFlow.start(transfer);
        }

        @Actor
        public void happen() {
            stale.happened(null);
        }

        @Actor
        public void poller() {
            stepped.settle();
        }

        @Arbiter
        public void rest(IIZ_Result r) {
            stepped.settle();
            r.r1 = ends.get();
            waiting.remove().happened(null);
            stepped.settle();
            r.r2 = ends.get();
            r.r3 = stepped.isAtRest();
        }
    }

    /** A thread asks when an ended transfer is quiet, just as it becomes so. */
    @JCStressTest
    @Outcome(
            id = {"true, true", "false, true"},
            expect = ACCEPTABLE,
            desc = "It is notified.")
    @Outcome(id = ".*, false", expect = FORBIDDEN, desc = "It waits for ever.")
    @State
    public static class QuiescedAgainstTheLastCompletion extends CountedFlow {
        private final FlowTransfer transfer = posted();
        private CompletableFuture<Void> quiet;

        public QuiescedAgainstTheLastCompletion() {
            transfer.cancel();
            stepped.loop.runNext();
        }

        @Actor
        public void ask(ZZ_Result r) {
            quiet = transfer.quiesced();
            r.r1 = quiet.isDone();
        }

        @Actor
        public void poller() {
            stepped.completeNext();
        }

        @Arbiter
        public void rest(ZZ_Result r) {
            r.r2 = quiet.isDone();
        }
    }
}
