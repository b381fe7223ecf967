package io.sluice.engine.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.Signal;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.openjdk.jcstress.infra.results.ZJ_Result;
import org.openjdk.jcstress.infra.results.ZZJ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Waits for a signal against its updates. Outcomes that are not listed are forbidden. */
final class SignalWaitsStress {
    private SignalWaitsStress() {}

    /** A signal that is 0. */
    private static class OneSignal {
        // no region is closed here, so no engine is asked
        private final LocalRegion region = new LocalRegion(
                null,
                1,
                RegionOptions.readWrite(),
                RegionMemory.host(MemorySegment.ofArray(new long[1])),
                TransportRegistrations.none(),
                awaited -> {},
                () -> {});
        final Signal signal = region.signal(0);
        CompletableFuture<Long> wait;

        RegionWords words() {
            return region.words();
        }
    }

    /** A wait begins while the signal is added to. */
    @JCStressTest
    @Outcome(id = "true, 1", expect = ACCEPTABLE, desc = "It ends with the value.")
    @Outcome(id = "false, .*", expect = FORBIDDEN, desc = "It misses the update.")
    @State
    public static class WaitAgainstAdd extends OneSignal {
        @Actor
        public void await() {
            wait = signal.awaitAtLeast(1);
        }

        @Actor
        public void add() {
            signal.add(1);
        }

        @Arbiter
        public void ended(ZJ_Result r) {
            r.r1 = wait.isDone();
            r.r2 = wait.getNow(-1L);
        }
    }

    /** A wait begins while the signal is set. */
    @JCStressTest
    @Outcome(id = "true, 1", expect = ACCEPTABLE, desc = "It ends with the value.")
    @Outcome(id = "false, .*", expect = FORBIDDEN, desc = "It misses the update.")
    @State
    public static class WaitAgainstSet extends OneSignal {
        @Actor
        public void await() {
            wait = signal.awaitAtLeast(1);
        }

        @Actor
        public void set() {
            signal.set(1);
        }

        @Arbiter
        public void ended(ZJ_Result r) {
            r.r1 = wait.isDone();
            r.r2 = wait.getNow(-1L);
        }
    }

    /** A wait begins while a word is swapped. */
    @JCStressTest
    @Outcome(id = "true, 1", expect = ACCEPTABLE, desc = "It ends with the value.")
    @Outcome(id = "false, .*", expect = FORBIDDEN, desc = "It misses the update.")
    @State
    public static class WaitAgainstCompareAndSwap extends OneSignal {
        @Actor
        public void await() {
            wait = signal.awaitAtLeast(1);
        }

        @Actor
        public void swap() {
            words().compareAndSwap(0, 0, 1);
        }

        @Arbiter
        public void ended(ZJ_Result r) {
            r.r1 = wait.isDone();
            r.r2 = wait.getNow(-1L);
        }
    }

    /** Two additions that only together reach what is waited for. */
    @JCStressTest
    @Outcome(id = "true, 2", expect = ACCEPTABLE, desc = "It ends with the sum.")
    @Outcome(id = "false, .*", expect = FORBIDDEN, desc = "It misses the last addition.")
    @State
    public static class WaitAgainstTwoAdditions extends OneSignal {
        @Actor
        public void await() {
            wait = signal.awaitAtLeast(2);
        }

        @Actor
        public void one() {
            signal.add(1);
        }

        @Actor
        public void other() {
            signal.add(1);
        }

        @Arbiter
        public void ended(ZJ_Result r) {
            r.r1 = wait.isDone();
            r.r2 = wait.getNow(-1L);
        }
    }

    /** Two threads begin to wait at the same place while it is updated. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "Both end.")
    @Outcome(
            id = {"false, .*", "true, false"},
            expect = FORBIDDEN,
            desc = "One misses the update.")
    @State
    public static class TwoWaitsAgainstAdd extends OneSignal {
        private CompletableFuture<Long> otherWait;

        @Actor
        public void one() {
            wait = signal.awaitAtLeast(1);
        }

        @Actor
        public void other() {
            otherWait = signal.awaitAtLeast(1);
        }

        @Actor
        public void add() {
            signal.add(1);
        }

        @Arbiter
        public void ended(ZZ_Result r) {
            r.r1 = wait.isDone();
            r.r2 = otherWait.isDone();
        }
    }

    /** One of two waits is given up while the other's update comes. */
    @JCStressTest
    @Outcome(
            id = {"true, true, 1", "false, true, 1"},
            expect = ACCEPTABLE,
            desc = "The other ends with the value.")
    @Outcome(id = ".*, false, .*", expect = FORBIDDEN, desc = "The other misses the update.")
    @State
    public static class CancelledWaitAgainstAdd extends OneSignal {
        private final CompletableFuture<Long> givenUp = signal.awaitAtLeast(1);

        @Actor
        public void cancel(ZZJ_Result r) {
            r.r1 = givenUp.cancel(false);
            wait = signal.awaitAtLeast(1);
        }

        @Actor
        public void add() {
            signal.add(1);
        }

        @Arbiter
        public void ended(ZZJ_Result r) {
            r.r2 = wait.isDone();
            r.r3 = wait.getNow(-1L);
        }
    }

    /** A wait begins while another at the same place is given up; then the update comes. */
    @JCStressTest
    @Outcome(id = "true, 1", expect = ACCEPTABLE, desc = "It ends with the value.")
    @Outcome(id = "false, .*", expect = FORBIDDEN, desc = "It is lost together with the other.")
    @State
    public static class WaitAgainstCancel extends OneSignal {
        private final CompletableFuture<Long> givenUp = signal.awaitAtLeast(1);

        @Actor
        public void await() {
            wait = signal.awaitAtLeast(1);
        }

        @Actor
        public void cancel() {
            givenUp.cancel(false);
        }

        @Arbiter
        public void ended(ZJ_Result r) {
            signal.add(1);
            r.r1 = wait.isDone();
            r.r2 = wait.getNow(-1L);
        }
    }

    /** A wait begins while the region closes. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "It ends with the error.")
    @Outcome(id = "false, .*", expect = FORBIDDEN, desc = "It waits for a counter that no longer changes.")
    @State
    public static class WaitAgainstClose {
        private final SignalWaits waits = new SignalWaits(() -> {});
        private final SignalWaits.Wait wait = new SignalWaits.Wait(1);

        @Actor
        public void await() {
            waits.enter(0, wait);
        }

        @Actor
        public void close() {
            waits.close(new RegionClosedException("the test closes it"));
        }

        @Arbiter
        public void ended(ZZ_Result r) {
            r.r1 = wait.isDone();
            r.r2 = wait.isCompletedExceptionally();
        }
    }

    /** A wait on a loop that only counts what it is given. */
    private static class OneLoopWait extends OneSignal {
        final AtomicInteger handedOver = new AtomicInteger();
        final LoopWait loopWait = new LoopWait(
                LocalRegion.of(signal.region()), 0, task -> handedOver.incrementAndGet(), (wait, value, error) -> {});

        OneLoopWait() {
            words().waits().add(0, loopWait);
        }
    }

    /** A wait on a loop is armed while the signal is added to by two. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "It ends once.")
    @Outcome(expect = FORBIDDEN, desc = "It misses the updates, or ends twice.")
    @State
    public static class LoopWaitAgainstAdditions extends OneLoopWait {
        @Actor
        public void arm() {
            loopWait.arm(2);
        }

        @Actor
        public void one() {
            signal.add(1);
        }

        @Actor
        public void other() {
            signal.add(1);
        }

        @Arbiter
        public void ended(I_Result r) {
            r.r1 = handedOver.get();
        }
    }

    /** An armed wait on a loop is given up while its update comes. */
    @JCStressTest
    @Outcome(
            id = {"true, 0", "false, 1"},
            expect = ACCEPTABLE,
            desc = "It is given up, or ends.")
    @Outcome(expect = FORBIDDEN, desc = "It does both, or neither.")
    @State
    public static class DisarmedLoopWaitAgainstAdd extends OneLoopWait {
        public DisarmedLoopWaitAgainstAdd() {
            loopWait.arm(1);
        }

        @Actor
        public void disarm(ZI_Result r) {
            r.r1 = loopWait.disarm();
        }

        @Actor
        public void add() {
            signal.add(1);
        }

        @Arbiter
        public void ended(ZI_Result r) {
            r.r2 = handedOver.get();
        }
    }

    /** A wait is given up and armed for more, while an update comes that reaches the first value alone. */
    @JCStressTest
    @Outcome(
            id = {"true, 0", "false, 1"},
            expect = ACCEPTABLE,
            desc = "The first one ends, or is given up and the second waits on.")
    @Outcome(id = "true, 1", expect = FORBIDDEN, desc = "The second one ends by what the first waited for.")
    @Outcome(expect = FORBIDDEN, desc = "Neither is so.")
    @State
    public static class LoopWaitArmedForMoreAgainstAdd extends OneLoopWait {
        public LoopWaitArmedForMoreAgainstAdd() {
            loopWait.arm(1);
        }

        @Actor
        public void armForMore(ZI_Result r) {
            r.r1 = loopWait.disarm();
            if (r.r1) {
                loopWait.arm(2);
            }
        }

        @Actor
        public void add() {
            signal.add(1);
        }

        @Arbiter
        public void ended(ZI_Result r) {
            r.r2 = handedOver.get();
        }
    }

    /** A wait on a loop is armed while its region closes. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "It ends with the error.")
    @Outcome(expect = FORBIDDEN, desc = "It waits for a counter that no longer changes, or ends twice.")
    @State
    public static class LoopWaitAgainstClose extends OneLoopWait {
        @Actor
        public void arm() {
            loopWait.arm(1);
        }

        @Actor
        public void close() {
            words().waits().close(new RegionClosedException("the test closes it"));
        }

        @Arbiter
        public void ended(I_Result r) {
            r.r1 = handedOver.get();
        }
    }
}
