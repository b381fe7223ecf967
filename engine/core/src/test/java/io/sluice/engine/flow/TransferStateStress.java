package io.sluice.engine.flow;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IZ_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZIZ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A transfer's state word where two or three threads change it at once. Outcomes that are not listed are forbidden. */
final class TransferStateStress {
    private TransferStateStress() {}

    /** A state that numbers its runs from 1, as the tests speak of them. */
    private static final class Word extends TransferState {
        private final int none = run();
        private final int first;

        private Word(boolean running) {
            if (running) {
                start();
            }
            first = run();
        }

        /** At rest, and never run. */
        static Word fresh() {
            return new Word(false);
        }

        /** In its first run. */
        static Word running() {
            return new Word(true);
        }

        /** Starts it if it can be started; says whether. */
        boolean start() {
            if (!hold()) {
                return false;
            }
            beginRun();
            return true;
        }

        /** Which run the poller must be told to cancel: 0 for none, 1 for the first, 2 for the next. */
        int cancel() {
            int run = askForCancel();
            if (run == NO_RUN || run == none) {
                return 0;
            }
            return run == first ? 1 : 2;
        }

        @Override
        protected void expired() {}
    }

    /** Two threads start the same transfer. */
    @JCStressTest
    @Outcome(
            id = {"true, false", "false, true"},
            expect = ACCEPTABLE,
            desc = "One of them runs it.")
    @Outcome(id = "true, true", expect = FORBIDDEN, desc = "Two runs at a time.")
    @Outcome(id = "false, false", expect = FORBIDDEN, desc = "No run.")
    @State
    public static class StartAgainstStart {
        private final Word transfer = Word.fresh();

        @Actor
        public void one(ZZ_Result r) {
            r.r1 = transfer.start();
        }

        @Actor
        public void other(ZZ_Result r) {
            r.r2 = transfer.start();
        }
    }

    /** A start meets a cancel: it is for this run, or it came too early. */
    @JCStressTest
    @Outcome(id = "2, true", expect = ACCEPTABLE, desc = "The poller is told, and the run knows of it.")
    @Outcome(id = "0, false", expect = ACCEPTABLE, desc = "Too early.")
    @Outcome(id = "2, false", expect = FORBIDDEN, desc = "The cancel is lost while it runs.")
    @Outcome(id = "., true", expect = FORBIDDEN, desc = "Cancelled, but the poller is not told.")
    @State
    public static class StartAgainstCancel {
        private final Word transfer = Word.fresh();

        @Actor
        public void start() {
            transfer.start();
        }

        @Actor
        public void cancel(IZ_Result r) {
            r.r1 = transfer.cancel();
        }

        @Arbiter
        public void state(IZ_Result r) {
            r.r2 = transfer.isCancelRequested();
        }
    }

    /** Who sees a run sees what was written before its start. */
    @JCStressTest
    @Outcome(
            id = {"-1", "7"},
            expect = ACCEPTABLE,
            desc = "Not running yet, or with its ranges.")
    @Outcome(id = "0", expect = FORBIDDEN, desc = "A run with the ranges of the last one.")
    @State
    public static class StartAgainstThePollersLook {
        private final Word transfer = Word.fresh();
        private int range;

        @Actor
        public void start() {
            if (transfer.hold()) {
                range = 7;
                transfer.beginRun();
            }
        }

        @Actor
        public void poller(I_Result r) {
            r.r1 = transfer.hasEnded() ? -1 : range;
        }
    }

    /** Two threads cancel. */
    @JCStressTest
    @Outcome(id = "1, true", expect = ACCEPTABLE, desc = "One of them tells the poller.")
    @Outcome(id = "0, .*", expect = FORBIDDEN, desc = "Neither tells the poller.")
    @Outcome(id = "2, .*", expect = FORBIDDEN, desc = "Both tell the poller.")
    @State
    public static class CancelAgainstCancel {
        private final Word transfer = Word.running();
        private int one;
        private int other;

        @Actor
        public void one() {
            one = transfer.cancel();
        }

        @Actor
        public void other() {
            other = transfer.cancel();
        }

        @Arbiter
        public void told(IZ_Result r) {
            r.r1 = one + other;
            r.r2 = transfer.isCancelRequested();
        }
    }

    /** A cancel comes while the run ends; then another run begins. */
    @JCStressTest
    @Outcome(
            id = {"true, 0, false", "true, 1, false"},
            expect = ACCEPTABLE,
            desc = "The next run is not cancelled.")
    @Outcome(id = ".*, true", expect = FORBIDDEN, desc = "The next run inherits the cancel.")
    @Outcome(id = "false, .*", expect = FORBIDDEN, desc = "The end is lost: it can never be started again.")
    @State
    public static class CancelAgainstTheEnd {
        private final Word transfer = Word.running();

        @Actor
        public void cancel(ZIZ_Result r) {
            r.r2 = transfer.cancel();
        }

        @Actor
        public void end() {
            transfer.endRun(true);
        }

        @Arbiter
        public void next(ZIZ_Result r) {
            r.r1 = transfer.start();
            r.r3 = transfer.isCancelRequested();
        }
    }

    /** A cancel comes while the run ends and the next begins: it is for the one or the other, never for both. */
    @JCStressTest
    @Outcome(
            id = {"true, 0, false", "true, 1, false"},
            expect = ACCEPTABLE,
            desc = "For the first run, or too late.")
    @Outcome(id = "true, 2, true", expect = ACCEPTABLE, desc = "For the second run.")
    @Outcome(
            id = {"false, 0, false", "false, 1, true"},
            expect = ACCEPTABLE,
            desc = "There is no second run.")
    @Outcome(id = "true, [01], true", expect = FORBIDDEN, desc = "A cancel of the first run counts for the second.")
    @Outcome(id = "true, 2, false", expect = FORBIDDEN, desc = "The cancel is lost while it runs.")
    @State
    public static class CancelAgainstTheEndAndRestart {
        private final Word transfer = Word.running();

        @Actor
        public void end() {
            transfer.endRun(true);
        }

        @Actor
        public void start(ZIZ_Result r) {
            r.r1 = transfer.start();
        }

        @Actor
        public void cancel(ZIZ_Result r) {
            r.r2 = transfer.cancel();
        }

        @Arbiter
        public void state(ZIZ_Result r) {
            r.r3 = transfer.isCancelRequested();
        }
    }

    /** A start meets the moment at which the last request of the ended run comes back. */
    @JCStressTest
    @Outcome(
            id = {"-1", "0"},
            expect = ACCEPTABLE,
            desc = "Refused, or nothing is posted.")
    @Outcome(id = "1", expect = FORBIDDEN, desc = "A restart while something is posted.")
    @State
    public static class RestartAgainstRest {
        private final Word transfer = Word.running();
        private int posted = 1;

        public RestartAgainstRest() {
            transfer.endRun(false);
        }

        @Actor
        public void poller() {
            posted = 0;
            transfer.rest();
        }

        @Actor
        public void start(I_Result r) {
            r.r1 = transfer.hold() ? posted : -1;
        }
    }

    /** A run ends while something of it is posted. */
    @JCStressTest
    @Outcome(id = "false, false", expect = ACCEPTABLE, desc = "No thread starts it meanwhile.")
    @Outcome(id = "true, .*", expect = FORBIDDEN, desc = "A restart while something is posted.")
    @State
    public static class RestartAgainstAnUnquietEnd {
        private final Word transfer = Word.running();

        @Actor
        public void poller() {
            transfer.endRun(false);
        }

        @Actor
        public void start(ZZ_Result r) {
            r.r1 = transfer.hold();
        }

        @Arbiter
        public void later(ZZ_Result r) {
            r.r2 = transfer.hold();
        }
    }

    /** The thread that starts the next run sees what the poller wrote in the last. */
    @JCStressTest
    @Outcome(
            id = {"-1", "7"},
            expect = ACCEPTABLE,
            desc = "Still running, or with its outcome.")
    @Outcome(id = "0", expect = FORBIDDEN, desc = "At rest, with the outcome still to come.")
    @State
    public static class RestartAgainstTheEnd {
        private final Word transfer = Word.running();
        private int outcome;

        @Actor
        public void poller() {
            outcome = 7;
            transfer.endRun(true);
        }

        @Actor
        public void start(I_Result r) {
            r.r1 = transfer.hold() ? outcome : -1;
        }
    }

    /** A start that is refused, and so lets the transfer go, meets another start. */
    @JCStressTest
    @Outcome(
            id = {"true, false", "false, true"},
            expect = ACCEPTABLE,
            desc = "Now or later it can be started.")
    @Outcome(id = "false, false", expect = FORBIDDEN, desc = "It is held for ever.")
    @Outcome(id = "true, true", expect = FORBIDDEN, desc = "Two hold it.")
    @State
    public static class LettingGoAgainstStart {
        private final Word transfer = Word.fresh();

        public LettingGoAgainstStart() {
            transfer.hold();
        }

        @Actor
        public void letGo() {
            transfer.letGo();
        }

        @Actor
        public void start(ZZ_Result r) {
            r.r1 = transfer.hold();
        }

        @Arbiter
        public void later(ZZ_Result r) {
            r.r2 = transfer.hold();
        }
    }
}
