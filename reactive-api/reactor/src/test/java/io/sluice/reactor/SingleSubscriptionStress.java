package io.sluice.reactor;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIIII_Result;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.IZ_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import reactor.core.Scannable;

/**
 * Demand, cancel and the end of the work against each other, for one subscriber of a Mono. Outcomes that are not
 * listed are forbidden.
 */
final class SingleSubscriptionStress {
    private SingleSubscriptionStress() {}

    /** One subscriber's work, which ends when the test says so; it counts what is done to it. */
    private static final class Work extends SingleSubscription<Integer> {
        private final CountingSubscriber<Integer> subscriber;
        private final AtomicInteger starts = new AtomicInteger();
        private final AtomicInteger abandoned = new AtomicInteger();

        private Work(CountingSubscriber<Integer> subscriber) {
            super(subscriber);
            this.subscriber = subscriber;
        }

        static Work idle() {
            return new Work(new CountingSubscriber<>());
        }

        static Work started() {
            Work work = idle();
            work.request(1);
            return work;
        }

        @Override
        void start() {
            starts.incrementAndGet();
            if (!running()) {
                abandoned.incrementAndGet();
            }
        }

        @Override
        void abandon() {
            abandoned.incrementAndGet();
        }

        /** Items, completions, errors, how often it was abandoned, breaches of the rules. */
        void report(IIIII_Result r) {
            r.r1 = subscriber.items();
            r.r2 = subscriber.completions();
            r.r3 = subscriber.errors();
            r.r4 = abandoned.get();
            r.r5 = subscriber.breaches();
        }
    }

    /** Two threads ask. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The work starts once.")
    @Outcome(id = "[02]", expect = FORBIDDEN, desc = "It never starts, or twice.")
    @State
    public static class RequestAgainstRequest {
        private final Work work = Work.idle();

        @Actor
        public void one() {
            work.request(1);
        }

        @Actor
        public void other() {
            work.request(Long.MAX_VALUE);
        }

        @Arbiter
        public void started(I_Result r) {
            r.r1 = work.starts.get();
        }
    }

    /** The first demand meets a cancel. */
    @JCStressTest
    @Outcome(
            id = {"0, 0", "1, 1"},
            expect = ACCEPTABLE,
            desc = "Never started, or abandoned.")
    @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "Unwanted work goes on: the cancel is lost.")
    @Outcome(id = "1, 2", expect = FORBIDDEN, desc = "Abandoned twice.")
    @State
    public static class RequestAgainstCancel {
        private final Work work = Work.idle();

        @Actor
        public void request() {
            work.request(1);
        }

        @Actor
        public void cancel() {
            work.cancel();
        }

        @Arbiter
        public void afterwards(II_Result r) {
            r.r1 = work.starts.get();
            r.r2 = work.abandoned.get();
        }
    }

    /** Two threads cancel. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "Abandoned once.")
    @Outcome(id = "[02]", expect = FORBIDDEN, desc = "Not abandoned, or twice.")
    @State
    public static class CancelAgainstCancel {
        private final Work work = Work.started();

        @Actor
        public void one() {
            work.cancel();
        }

        @Actor
        public void other() {
            work.cancel();
        }

        @Arbiter
        public void afterwards(I_Result r) {
            r.r1 = work.abandoned.get();
        }
    }

    /** The result meets a cancel; and another result that comes too late, as no engine gives it, stays unseen. */
    @JCStressTest
    @Outcome(id = "1, 1, 0, 0, 0", expect = ACCEPTABLE, desc = "The result, and the completion.")
    @Outcome(id = "1, 0, 0, 0, 0", expect = ACCEPTABLE, desc = "The result; the cancel came before the completion.")
    @Outcome(id = "0, 0, 0, 1, 0", expect = ACCEPTABLE, desc = "The cancel.")
    @Outcome(id = "2, .*", expect = FORBIDDEN, desc = "Something is emitted twice, or after the cancel.")
    @Outcome(id = "1, ., ., 1, .", expect = FORBIDDEN, desc = "Both the result and the cancel win.")
    @Outcome(id = "0, 0, 0, 0, .", expect = FORBIDDEN, desc = "Neither wins.")
    @State
    public static class SuccessAgainstCancel {
        private final Work work = Work.started();

        @Actor
        public void success() {
            work.succeed(1);
        }

        @Actor
        public void cancel() {
            work.cancel();
        }

        @Arbiter
        public void afterwards(IIIII_Result r) {
            work.succeed(2);
            work.report(r);
        }
    }

    /** The completion that follows the result meets a cancel. */
    @JCStressTest
    @Outcome(
            id = {"1, false", "0, true"},
            expect = ACCEPTABLE,
            desc = "One of them wins, and it shows.")
    @Outcome(id = "1, true", expect = FORBIDDEN, desc = "A completion after a cancel that has won.")
    @State
    public static class CompletionAgainstCancel {
        private final Work work = Work.started();

        @Actor
        public void success() {
            work.succeed(1);
        }

        @Actor
        public void cancel(IZ_Result r) {
            work.cancel();
            r.r2 = work.scanOrDefault(Scannable.Attr.CANCELLED, false);
        }

        @Arbiter
        public void afterwards(IZ_Result r) {
            r.r1 = work.subscriber.completions();
        }
    }

    /** An error meets a cancel. */
    @JCStressTest
    @Outcome(id = "0, 0, 1, 0, 0", expect = ACCEPTABLE, desc = "The error.")
    @Outcome(id = "0, 0, 0, 1, 0", expect = ACCEPTABLE, desc = "The cancel.")
    @Outcome(id = "0, 0, 1, 1, 0", expect = FORBIDDEN, desc = "Both win.")
    @Outcome(id = "0, 0, 0, 0, 0", expect = FORBIDDEN, desc = "Neither wins.")
    @State
    public static class ErrorAgainstCancel {
        private final Work work = Work.started();

        @Actor
        public void error() {
            work.fail(new IllegalStateException("lost"));
        }

        @Actor
        public void cancel() {
            work.cancel();
        }

        @Arbiter
        public void afterwards(IIIII_Result r) {
            work.report(r);
        }
    }

    /** The result meets an error. */
    @JCStressTest
    @Outcome(id = "1, 1, 0, 0, 0", expect = ACCEPTABLE, desc = "The result.")
    @Outcome(id = "0, 0, 1, 0, 0", expect = ACCEPTABLE, desc = "The error.")
    @Outcome(id = "1, ., 1, ., .", expect = FORBIDDEN, desc = "Both.")
    @State
    public static class SuccessAgainstError {
        private final Work work = Work.started();

        @Actor
        public void success() {
            work.succeed(1);
        }

        @Actor
        public void error() {
            work.fail(new IllegalStateException("lost"));
        }

        @Arbiter
        public void afterwards(IIIII_Result r) {
            work.report(r);
        }
    }

    /** The result meets a demand that breaks the rules. */
    @JCStressTest
    @Outcome(id = "1, 1, 0, 0, 0", expect = ACCEPTABLE, desc = "The result.")
    @Outcome(id = "0, 0, 1, 1, 0", expect = ACCEPTABLE, desc = "The error, and the work is abandoned.")
    @Outcome(id = "1, ., 1, ., .", expect = FORBIDDEN, desc = "Both.")
    @State
    public static class SuccessAgainstABadRequest {
        private final Work work = Work.started();

        @Actor
        public void success() {
            work.succeed(1);
        }

        @Actor
        public void request() {
            work.request(0);
        }

        @Arbiter
        public void afterwards(IIIII_Result r) {
            work.report(r);
        }
    }

    /** The result comes before the call that starts the work has returned. */
    @JCStressTest
    @Outcome(id = "1, 1, 0, 0, 0", expect = ACCEPTABLE, desc = "The result.")
    @Outcome(id = ".*, 1, 0", expect = FORBIDDEN, desc = "Work that has ended is abandoned.")
    @State
    public static class RequestAgainstSuccess {
        private final Work work = Work.idle();

        @Actor
        public void request() {
            work.request(1);
        }

        @Actor
        public void success() {
            if (work.starts.get() == 1) {
                work.succeed(1);
            }
        }

        @Arbiter
        public void afterwards(IIIII_Result r) {
            work.succeed(2);
            work.report(r);
        }
    }

    /** The first demand, its result and a cancel, all at once. */
    @JCStressTest
    @Outcome(id = "1, [01], 0, 0", expect = ACCEPTABLE, desc = "The result, with or without the completion.")
    @Outcome(id = "0, 0, 1, 1", expect = ACCEPTABLE, desc = "Started, and abandoned.")
    @Outcome(id = "0, 0, 0, 0", expect = ACCEPTABLE, desc = "Never started.")
    @Outcome(id = "0, 0, 1, 0", expect = FORBIDDEN, desc = "Unwanted work goes on: the cancel is lost.")
    @Outcome(
            id = "1, 0, 0, 1",
            expect = ACCEPTABLE,
            desc = "The result, then the cancel; abandoning the ended work does nothing.")
    @Outcome(id = "1, 1, ., 1", expect = FORBIDDEN, desc = "Both the completion and the cancel win.")
    @State
    public static class RequestAgainstSuccessAgainstCancel {
        private final Work work = Work.idle();

        @Actor
        public void request() {
            work.request(1);
        }

        @Actor
        public void success() {
            if (work.starts.get() == 1) {
                work.succeed(1);
            }
        }

        @Actor
        public void cancel() {
            work.cancel();
        }

        // whether it was started matters only where nothing came of it
        @Arbiter
        public void afterwards(IIII_Result r) {
            r.r1 = work.subscriber.items();
            r.r2 = work.subscriber.completions();
            r.r3 = r.r1 == 1 ? 0 : work.starts.get();
            r.r4 = work.abandoned.get();
        }
    }
}
