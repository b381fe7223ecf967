package io.sluice.engine.flow;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.CompletableFuture;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Threads that look at an event, and the poller that ends the run, after which the event is destroyed. */
final class EventLooksStress {
    private EventLooksStress() {}

    /** An event, and whether a look has found it destroyed. */
    private static class Event {
        final EventLooks looks = new EventLooks();
        private volatile boolean destroyed;
        volatile int tooLate;
        private CompletableFuture<Void> over = CompletableFuture.completedFuture(null);

        int look() {
            return looks.look(() -> {
                        if (destroyed) {
                            tooLate = 1;
                        }
                    })
                    ? 1
                    : 0;
        }

        void end() {
            CompletableFuture<Void> underWay = looks.end();
            if (underWay != null) {
                over = underWay;
            }
            over = over.thenRun(() -> destroyed = true);
        }

        int isDestroyed() {
            return destroyed ? 1 : 0;
        }
    }

    @JCStressTest
    @Outcome(
            id = {"0, 1, 0", "1, 1, 0"},
            expect = ACCEPTABLE,
            desc = "It looks before the end, or not at all.")
    @Outcome(id = "., 0, .", expect = FORBIDDEN, desc = "The end is never told.")
    @Outcome(id = "., ., 1", expect = FORBIDDEN, desc = "It looks at what is destroyed.")
    @State
    public static class LookAgainstEnd extends Event {
        @Actor
        public void looker(III_Result r) {
            r.r1 = look();
        }

        @Actor
        public void poller() {
            end();
        }

        @Arbiter
        public void afterwards(III_Result r) {
            r.r2 = isDestroyed();
            r.r3 = tooLate;
        }
    }

    @JCStressTest
    @Outcome(id = "[012], 1, 0", expect = ACCEPTABLE, desc = "Each looks before the end, or not at all.")
    @Outcome(id = "., 0, .", expect = FORBIDDEN, desc = "The end is never told.")
    @Outcome(id = "., ., 1", expect = FORBIDDEN, desc = "One looks at what is destroyed.")
    @State
    public static class TwoLooksAgainstEnd extends Event {
        @Actor
        public void looker(III_Result r) {
            r.r1 = look() + look();
        }

        @Actor
        public void poller() {
            end();
        }

        @Arbiter
        public void afterwards(III_Result r) {
            r.r2 = isDestroyed();
            r.r3 = tooLate;
        }
    }
}
