package io.sluice.vertx;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Pollers that bring deliveries, and the event loop that takes them. Outcomes that are not listed are forbidden. */
final class ContextMailboxStress {
    private ContextMailboxStress() {}

    /** A mailbox of an event loop, and the numbers that were delivered from it. */
    private static class Box {
        final HandDrivenContext loop = new HandDrivenContext();
        final ContextMailbox mailbox = new ContextMailbox(loop);
        final List<Integer> delivered = new CopyOnWriteArrayList<>();

        void bring(int number) {
            mailbox.deliver(new ContextMailbox.Delivery() {
                @Override
                void deliver() {
                    delivered.add(number);
                }
            });
        }
    }

    /** Two pollers bring one each before the loop comes to it. */
    @JCStressTest
    @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "Both are delivered, by one task.")
    @Outcome(id = "[01], .", expect = FORBIDDEN, desc = "One is lost.")
    @Outcome(id = "2, 2", expect = FORBIDDEN, desc = "The loop is woken for each.")
    @State
    public static class DeliverAgainstDeliver extends Box {
        @Actor
        public void one() {
            bring(1);
        }

        @Actor
        public void other() {
            bring(2);
        }

        @Arbiter
        public void afterwards(II_Result r) {
            loop.run();
            r.r1 = delivered.size();
            r.r2 = loop.handed();
        }
    }

    /** One is brought while the loop takes another. */
    @JCStressTest
    @Outcome(
            id = {"12, 1", "12, 2"},
            expect = ACCEPTABLE,
            desc = "Both, in their order; the second with the first, or by a task of its own.")
    @Outcome(id = "1, .", expect = FORBIDDEN, desc = "The second lies there, and no task comes for it.")
    @State
    public static class DeliverAgainstLoop extends Box {
        public DeliverAgainstLoop() {
            bring(1);
        }

        @Actor
        public void poller() {
            bring(2);
        }

        @Actor
        public void loop() {
            loop.run();
        }

        @Arbiter
        public void afterwards(II_Result r) {
            loop.run();
            r.r1 = delivered.stream().reduce(0, (before, next) -> before * 10 + next);
            r.r2 = loop.handed();
        }
    }

    /** A poller brings three while the loop takes what there is: their order stays. */
    @JCStressTest
    @Outcome(id = "123", expect = ACCEPTABLE, desc = "All, in their order.")
    @State
    public static class ThreeAgainstLoop extends Box {
        @Actor
        public void poller() {
            bring(1);
            bring(2);
            bring(3);
        }

        @Actor
        public void loop() {
            loop.run();
            loop.run();
        }

        @Arbiter
        public void afterwards(I_Result r) {
            loop.run();
            r.r1 = delivered.stream().reduce(0, (before, next) -> before * 10 + next);
        }
    }

    /** Two pollers and the loop at once. */
    @JCStressTest
    @Outcome(
            id = {"2, 1", "2, 2"},
            expect = ACCEPTABLE,
            desc = "Both are delivered once.")
    @State
    public static class DeliverAgainstDeliverAgainstLoop extends Box {
        @Actor
        public void one() {
            bring(1);
        }

        @Actor
        public void other() {
            bring(2);
        }

        @Actor
        public void loop() {
            loop.run();
        }

        @Arbiter
        public void afterwards(II_Result r) {
            loop.run();
            r.r1 = delivered.size();
            r.r2 = loop.handed();
        }
    }
}
