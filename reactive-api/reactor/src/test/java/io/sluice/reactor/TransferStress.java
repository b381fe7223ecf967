package io.sluice.reactor;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * Whole transfers, single and vectored, on a connection whose completions come from other threads. The results are: how many
 * transfers are left under way, items, terminal signals, breaches of the rules. Outcomes that are not listed are forbidden.
 */
final class TransferStress {
    private TransferStress() {}

    /** A write with one subscriber. */
    private static class Single {
        final FakeConnection connection = FakeConnection.manual();
        final CountingSubscriber<TransferResult> subscriber = new CountingSubscriber<>();

        Single() {
            ReactiveConnection.from(connection)
                    .write(new FakeRegion(8), connection.remote(), 0)
                    .subscribe(subscriber);
        }

        void report(IIII_Result r) {
            r.r1 = connection.inFlight();
            r.r2 = subscriber.items();
            r.r3 = subscriber.terminals();
            r.r4 = subscriber.breaches();
        }
    }

    /** A vectored write of two elements with one subscriber. */
    private static class Vectored {
        final FakeConnection connection = FakeConnection.manual();
        final CountingSubscriber<TransferResult> subscriber = new CountingSubscriber<>();

        Vectored(ElementSource source) {
            TransferElement element = connection.element(8);
            source.write(connection, List.of(element, element)).subscribe(subscriber);
        }

        FakeTransfer[] submitted() {
            subscriber.subscription().request(Long.MAX_VALUE);
            return connection.transfers.toArray(FakeTransfer[]::new);
        }

        void report(IIII_Result r) {
            r.r1 = connection.inFlight();
            r.r2 = subscriber.items();
            r.r3 = subscriber.terminals();
            r.r4 = subscriber.breaches();
        }
    }

    /** A single transfer is submitted while its subscriber cancels. */
    @JCStressTest
    @Outcome(id = "0, 0, 0, 0", expect = ACCEPTABLE, desc = "Never submitted, or cancelled.")
    @Outcome(id = "1, .*", expect = FORBIDDEN, desc = "A transfer goes on without a subscriber.")
    @State
    public static class SingleSubmissionAgainstCancel extends Single {
        @Actor
        public void request() {
            subscriber.subscription().request(1);
        }

        @Actor
        public void cancel() {
            subscriber.subscription().cancel();
        }

        @Arbiter
        public void afterwards(IIII_Result r) {
            report(r);
        }
    }

    /** A single transfer completes while its subscriber cancels. */
    @JCStressTest
    @Outcome(
            id = {"0, 1, 1, 0", "0, 1, 0, 0", "0, 0, 0, 0"},
            expect = ACCEPTABLE,
            desc = "The result, or nothing.")
    @Outcome(id = "., [02], 1, .", expect = FORBIDDEN, desc = "A completion without its result, or two results.")
    @State
    public static class SingleCompletionAgainstCancel extends Single {
        private final FakeTransfer transfer;

        public SingleCompletionAgainstCancel() {
            subscriber.subscription().request(1);
            transfer = connection.only();
        }

        @Actor
        public void complete() {
            transfer.succeed();
        }

        @Actor
        public void cancel() {
            subscriber.subscription().cancel();
        }

        @Arbiter
        public void afterwards(IIII_Result r) {
            report(r);
        }
    }

    /** Elements are submitted while their subscriber cancels. */
    @JCStressTest
    @Outcome(id = "0, 0, 0, 0", expect = ACCEPTABLE, desc = "What was submitted is cancelled.")
    @Outcome(id = "[12], .*", expect = FORBIDDEN, desc = "A transfer goes on without a subscriber.")
    @State
    public static class ListedSubmissionAgainstCancel extends Vectored {
        public ListedSubmissionAgainstCancel() {
            super(ElementSource.LIST);
        }

        @Actor
        public void request() {
            subscriber.subscription().request(Long.MAX_VALUE);
        }

        @Actor
        public void cancel() {
            subscriber.subscription().cancel();
        }

        @Arbiter
        public void afterwards(IIII_Result r) {
            report(r);
        }
    }

    /** Elements are submitted while their subscriber cancels, each a transfer of its own. */
    @JCStressTest
    @Outcome(id = "0, 0, 0, 0", expect = ACCEPTABLE, desc = "What was submitted is cancelled.")
    @Outcome(id = "[12], .*", expect = FORBIDDEN, desc = "A transfer goes on without a subscriber.")
    @State
    public static class PublishedSubmissionAgainstCancel extends Vectored {
        public PublishedSubmissionAgainstCancel() {
            super(ElementSource.PUBLISHER);
        }

        @Actor
        public void request() {
            subscriber.subscription().request(Long.MAX_VALUE);
        }

        @Actor
        public void cancel() {
            subscriber.subscription().cancel();
        }

        @Arbiter
        public void afterwards(IIII_Result r) {
            report(r);
        }
    }

    /** Two elements complete at once. */
    @JCStressTest
    @Outcome(id = "0, 2, 1, 0", expect = ACCEPTABLE, desc = "Both results, then the completion.")
    @Outcome(id = "., [01], ., .", expect = FORBIDDEN, desc = "A result is lost.")
    @Outcome(id = "., 2, 0, .", expect = FORBIDDEN, desc = "The completion is lost.")
    @State
    public static class ListedCompletionAgainstCompletion extends Vectored {
        private final FakeTransfer[] transfers = submitted();

        public ListedCompletionAgainstCompletion() {
            super(ElementSource.LIST);
        }

        @Actor
        public void one() {
            transfers[0].succeed();
        }

        @Actor
        public void other() {
            transfers[1].succeed();
        }

        @Arbiter
        public void afterwards(IIII_Result r) {
            report(r);
        }
    }

    /** Two elements complete at once, each a transfer of its own. */
    @JCStressTest
    @Outcome(id = "0, 2, 1, 0", expect = ACCEPTABLE, desc = "Both results, then the completion.")
    @Outcome(id = "., [01], ., .", expect = FORBIDDEN, desc = "A result is lost.")
    @Outcome(id = "., 2, 0, .", expect = FORBIDDEN, desc = "The completion is lost.")
    @State
    public static class PublishedCompletionAgainstCompletion extends Vectored {
        private final FakeTransfer[] transfers = submitted();

        public PublishedCompletionAgainstCompletion() {
            super(ElementSource.PUBLISHER);
        }

        @Actor
        public void one() {
            transfers[0].succeed();
        }

        @Actor
        public void other() {
            transfers[1].succeed();
        }

        @Arbiter
        public void afterwards(IIII_Result r) {
            report(r);
        }
    }

    /** Two elements complete while their subscriber cancels. */
    @JCStressTest
    @Outcome(id = "0, 2, [01], 0", expect = ACCEPTABLE, desc = "Both results, with or without the completion.")
    @Outcome(id = "0, [01], 0, 0", expect = ACCEPTABLE, desc = "The cancel came before a result.")
    @Outcome(id = "[12], .*", expect = FORBIDDEN, desc = "A transfer goes on without a subscriber.")
    @State
    public static class ListedCompletionsAgainstCancel extends Vectored {
        private final FakeTransfer[] transfers = submitted();

        public ListedCompletionsAgainstCancel() {
            super(ElementSource.LIST);
        }

        @Actor
        public void one() {
            transfers[0].succeed();
        }

        @Actor
        public void other() {
            transfers[1].succeed();
        }

        @Actor
        public void cancel() {
            subscriber.subscription().cancel();
        }

        @Arbiter
        public void afterwards(IIII_Result r) {
            report(r);
        }
    }

    /** Two elements complete while their subscriber cancels, each a transfer of its own. */
    @JCStressTest
    @Outcome(id = "0, 2, [01], 0", expect = ACCEPTABLE, desc = "Both results, with or without the completion.")
    @Outcome(id = "0, [01], 0, 0", expect = ACCEPTABLE, desc = "The cancel came before a result.")
    @Outcome(id = "[12], .*", expect = FORBIDDEN, desc = "A transfer goes on without a subscriber.")
    @State
    public static class PublishedCompletionsAgainstCancel extends Vectored {
        private final FakeTransfer[] transfers = submitted();

        public PublishedCompletionsAgainstCancel() {
            super(ElementSource.PUBLISHER);
        }

        @Actor
        public void one() {
            transfers[0].succeed();
        }

        @Actor
        public void other() {
            transfers[1].succeed();
        }

        @Actor
        public void cancel() {
            subscriber.subscription().cancel();
        }

        @Arbiter
        public void afterwards(IIII_Result r) {
            report(r);
        }
    }
}
