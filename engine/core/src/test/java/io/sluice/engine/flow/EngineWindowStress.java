package io.sluice.engine.flow;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.sluice.engine.TransferOptions;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.IJ_Result;
import org.openjdk.jcstress.infra.results.JJJJ_Result;
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The credits that pollers share. Outcomes that are not listed are forbidden. */
final class EngineWindowStress {
    private static final long MANY_BYTES = 1 << 20;

    // the waiter matters only where a connection waits
    private static final CreditWaiter ONE = new SteppedFlow().flow.mailbox();
    private static final CreditWaiter OTHER = new SteppedFlow().flow.mailbox();

    private EngineWindowStress() {}

    /** Two connections want the last operation. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 1, 1", "0, 1, 1, 1"},
            expect = ACCEPTABLE,
            desc = "One gets it.")
    @Outcome(id = "1, 1, .*", expect = FORBIDDEN, desc = "The window is over its limit.")
    @Outcome(id = "0, 0, .*", expect = FORBIDDEN, desc = "A credit is lost.")
    @State
    public static class LastOperation {
        private final EngineWindow window = new EngineWindow(1, MANY_BYTES);

        @Actor
        public void one(IIII_Result r) {
            r.r1 = window.tryAcquireOperation(ONE) ? 1 : 0;
        }

        @Actor
        public void other(IIII_Result r) {
            r.r2 = window.tryAcquireOperation(OTHER) ? 1 : 0;
        }

        @Arbiter
        public void figures(IIII_Result r) {
            r.r3 = window.operations();
            r.r4 = window.maxOperationsSeen();
        }
    }

    /** Two connections want bytes of which there are enough for one. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 60, 60", "0, 1, 50, 50"},
            expect = ACCEPTABLE,
            desc = "One gets them.")
    @Outcome(id = "1, 1, .*", expect = FORBIDDEN, desc = "The window is over its limit.")
    @Outcome(id = "0, 0, .*", expect = FORBIDDEN, desc = "Credits are lost.")
    @State
    public static class LastBytes {
        private final EngineWindow window = new EngineWindow(1, 100);

        @Actor
        public void one(JJJJ_Result r) {
            r.r1 = window.tryAcquireBytes(ONE, 60) ? 1 : 0;
        }

        @Actor
        public void other(JJJJ_Result r) {
            r.r2 = window.tryAcquireBytes(OTHER, 50) ? 1 : 0;
        }

        @Arbiter
        public void figures(JJJJ_Result r) {
            r.r3 = window.bytes();
            r.r4 = window.maxBytesSeen();
        }
    }

    /** Two connections want one operation each, and there are two. */
    @JCStressTest
    @Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "Both get one, and the most seen says so.")
    @State
    public static class TwoAcquireAtOnce {
        private final EngineWindow window = new EngineWindow(2, MANY_BYTES);

        @Actor
        public void one() {
            window.tryAcquireOperation(ONE);
        }

        @Actor
        public void other() {
            window.tryAcquireOperation(OTHER);
        }

        @Arbiter
        public void figures(II_Result r) {
            r.r1 = window.operations();
            r.r2 = window.maxOperationsSeen();
        }
    }

    /** A credit comes back while another connection asks. */
    @JCStressTest
    @Outcome(
            id = {"true, 1", "false, 0"},
            expect = ACCEPTABLE,
            desc = "What is taken is counted.")
    @Outcome(id = "true, 0", expect = FORBIDDEN, desc = "A credit is counted twice.")
    @Outcome(id = "false, 1", expect = FORBIDDEN, desc = "A credit is lost.")
    @State
    public static class AcquireAgainstRelease {
        private final EngineWindow window = new EngineWindow(1, MANY_BYTES);

        public AcquireAgainstRelease() {
            window.tryAcquireOperation(ONE);
        }

        @Actor
        public void acquire(ZI_Result r) {
            r.r1 = window.tryAcquireOperation(OTHER);
        }

        @Actor
        public void release() {
            window.releaseOperation();
        }

        @Arbiter
        public void figures(ZI_Result r) {
            r.r2 = window.operations();
        }
    }

    /** One connection takes a credit while another gives one back, and there are enough. */
    @JCStressTest
    @Outcome(id = "1, 60", expect = ACCEPTABLE, desc = "Both count.")
    @State
    public static class AcquireBesideRelease {
        private final EngineWindow window = new EngineWindow(2, 100);

        public AcquireBesideRelease() {
            window.tryAcquireOperation(ONE);
            window.tryAcquireBytes(ONE, 40);
        }

        @Actor
        public void acquire() {
            window.tryAcquireOperation(OTHER);
            window.tryAcquireBytes(OTHER, 60);
        }

        @Actor
        public void release() {
            window.releaseBytes(40);
            window.releaseOperation();
        }

        @Arbiter
        public void figures(IJ_Result r) {
            r.r1 = window.operations();
            r.r2 = window.bytes();
        }
    }

    /** Two connections give back at once. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Everything has come back.")
    @State
    public static class ReleaseAgainstRelease {
        private final EngineWindow window = new EngineWindow(2, 100);

        public ReleaseAgainstRelease() {
            window.tryAcquireOperation(ONE);
            window.tryAcquireBytes(ONE, 40);
            window.tryAcquireOperation(OTHER);
            window.tryAcquireBytes(OTHER, 60);
        }

        @Actor
        public void one() {
            window.releaseBytes(40);
            window.releaseOperation();
        }

        @Actor
        public void other() {
            window.releaseBytes(60);
            window.releaseOperation();
        }

        @Arbiter
        public void figures(IJ_Result r) {
            r.r1 = window.operations();
            r.r2 = window.bytes();
        }
    }

    /** A connection begins to wait while the credit comes back: it gets the credit, or is called. */
    @JCStressTest
    @Outcome(
            id = {"true, false", "true, true", "false, true"},
            expect = ACCEPTABLE,
            desc = "It does not wait in vain.")
    @Outcome(id = "false, false", expect = FORBIDDEN, desc = "It waits for ever though a credit is free.")
    @State
    public static class WaiterAgainstRelease {
        private final EngineWindow window = new EngineWindow(1, MANY_BYTES);
        private final SteppedFlow waiter = new SteppedFlow(window);

        public WaiterAgainstRelease() {
            window.tryAcquireOperation(ONE);
        }

        @Actor
        public void wait(ZZ_Result r) {
            boolean granted = window.tryAcquireOperation(waiter.flow.mailbox());
            if (!granted) {
                window.awaitOperation(waiter.flow.mailbox());
                granted = window.tryAcquireOperation(waiter.flow.mailbox());
            }
            r.r1 = granted;
        }

        @Actor
        public void release() {
            window.releaseOperation();
        }

        @Arbiter
        public void called(ZZ_Result r) {
            r.r2 = waiter.loop.hasTask();
        }
    }

    /** Two pollers, each with a connection that has something to write, share one credit. */
    @JCStressTest
    @Outcome(id = "1, 1, 0, 1", expect = ACCEPTABLE, desc = "Both write, one after the other.")
    @Outcome(id = "1, 1, 0, 2", expect = FORBIDDEN, desc = "The window is over its limit.")
    @Outcome(id = "(0, .*|.*, 0, ., .)", expect = FORBIDDEN, desc = "One waits for ever.")
    @State
    public static class TwoPollersShareACredit {
        private final EngineWindow window = new EngineWindow(1, MANY_BYTES);
        private final SteppedFlow one = new SteppedFlow(window);
        private final SteppedFlow other = new SteppedFlow(window);
        private final AtomicInteger ofOne = new AtomicInteger();
        private final AtomicInteger ofOther = new AtomicInteger();

        public TwoPollersShareACredit() {
            SteppedFlow.start(one.write(TransferOptions.defaults(), (transfer, error) -> ofOne.incrementAndGet()));
            SteppedFlow.start(other.write(TransferOptions.defaults(), (transfer, error) -> ofOther.incrementAndGet()));
        }

        @Actor
        public void onePoller() {
            one.settle();
        }

        @Actor
        public void otherPoller() {
            other.settle();
        }

        @Arbiter
        public void rest(IIII_Result r) {
            while (one.loop.hasTask() || other.loop.hasTask()) {
                one.settle();
                other.settle();
            }
            r.r1 = ofOne.get();
            r.r2 = ofOther.get();
            r.r3 = window.operations();
            r.r4 = window.maxOperationsSeen();
        }
    }
}
