package io.sluice.reactor;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.J_Result;

/**
 * Items, demand, the end of the source, errors and a cancel against each other, for one subscriber of a Flux. Outcomes that
 * are not listed are forbidden.
 */
final class DemandRelayStress {
    private static final int MANY = 16;

    private DemandRelayStress() {}

    /** A source that gives what the test gives. */
    private static final class Relay extends DemandRelay<Integer> {
        private final CountingSubscriber<Integer> subscriber;
        private final int items;
        private final AtomicLong taken = new AtomicLong();
        private final AtomicInteger stops = new AtomicInteger();

        private Relay(CountingSubscriber<Integer> subscriber, int limit, int items) {
            super(subscriber, limit, 1, null);
            this.subscriber = subscriber;
            this.items = items;
        }

        /** Open, of a source of so many items, which may be asked for so many ahead. */
        static Relay of(int items, int limit) {
            Relay relay = new Relay(new CountingSubscriber<>(), limit, items);
            relay.begin();
            return relay;
        }

        static Relay asked(int items) {
            Relay relay = of(items, MANY);
            relay.request(MANY);
            return relay;
        }

        @Override
        void take(long count) {
            taken.addAndGet(count);
        }

        @Override
        void stop() {
            stops.incrementAndGet();
        }

        @Override
        boolean complete(long handedOver) {
            return handedOver == items;
        }

        @Override
        @Nullable
        Throwable verdict() {
            return null;
        }
    }

    /** Two threads ask. */
    @JCStressTest
    @Outcome(id = "2", expect = ACCEPTABLE, desc = "The source is asked for both.")
    @Outcome(id = "[013]", expect = FORBIDDEN, desc = "Demand is lost, or invented.")
    @State
    public static class RequestAgainstRequest {
        private final Relay relay = Relay.of(2, MANY);

        @Actor
        public void one() {
            relay.request(1);
        }

        @Actor
        public void other() {
            relay.request(1);
        }

        @Arbiter
        public void taken(J_Result r) {
            r.r1 = relay.taken.get();
        }
    }

    /** The limit is reached; an item makes room while more is asked for. */
    @JCStressTest
    @Outcome(id = "2", expect = ACCEPTABLE, desc = "The source is asked for the next.")
    @Outcome(id = "1", expect = FORBIDDEN, desc = "Demand is lost: the source is never asked again.")
    @Outcome(id = "3", expect = FORBIDDEN, desc = "More is under way than the limit allows.")
    @State
    public static class RequestAgainstArrival {
        private final Relay relay = Relay.of(MANY, 1);

        public RequestAgainstArrival() {
            relay.request(1);
        }

        @Actor
        public void arrival() {
            relay.arrived(1);
        }

        @Actor
        public void request() {
            relay.request(5);
        }

        @Arbiter
        public void taken(J_Result r) {
            r.r1 = relay.taken.get();
        }
    }

    /** Two threads bring an item. */
    @JCStressTest
    @Outcome(id = "2, 0, 0", expect = ACCEPTABLE, desc = "Both are handed over, one after the other.")
    @Outcome(id = "[01], .*", expect = FORBIDDEN, desc = "An item is left behind.")
    @Outcome(id = "2, 0, [12]", expect = FORBIDDEN, desc = "Two signals at a time.")
    @State
    public static class ArrivalAgainstArrival {
        private final Relay relay = Relay.asked(3);

        @Actor
        public void one() {
            relay.arrived(1);
        }

        @Actor
        public void other() {
            relay.arrived(2);
        }

        @Arbiter
        public void afterwards(III_Result r) {
            r.r1 = relay.subscriber.items();
            r.r2 = relay.subscriber.terminals();
            r.r3 = relay.subscriber.breaches();
        }
    }

    /** The last item meets the end of the source. */
    @JCStressTest
    @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "The item, then the completion.")
    @Outcome(id = "0, .*", expect = FORBIDDEN, desc = "The item is lost.")
    @Outcome(id = "1, 0, 0", expect = FORBIDDEN, desc = "The completion is lost.")
    @State
    public static class ArrivalAgainstEnd {
        private final Relay relay = Relay.asked(1);

        @Actor
        public void arrival() {
            relay.arrived(1);
        }

        @Actor
        public void end() {
            relay.ended();
        }

        @Arbiter
        public void afterwards(III_Result r) {
            r.r1 = relay.subscriber.items();
            r.r2 = relay.subscriber.completions();
            r.r3 = relay.subscriber.breaches();
        }
    }

    /** An item meets a cancel. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 1, 0", "0, 1, 1, 0"},
            expect = ACCEPTABLE,
            desc = "Handed over, or discarded.")
    @Outcome(id = "0, 0, .*", expect = FORBIDDEN, desc = "The item is left behind.")
    @Outcome(id = "., ., 0, .", expect = FORBIDDEN, desc = "The source goes on.")
    @State
    public static class ArrivalAgainstCancel {
        private final Relay relay = Relay.asked(2);

        @Actor
        public void arrival() {
            relay.arrived(1);
        }

        @Actor
        public void cancel() {
            relay.cancel();
        }

        @Arbiter
        public void afterwards(IIII_Result r) {
            r.r1 = relay.subscriber.items();
            r.r2 = relay.subscriber.discarded();
            r.r3 = relay.stops.get();
            r.r4 = relay.subscriber.terminals() + relay.subscriber.breaches();
        }
    }

    /** The end of the source meets a cancel. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 0", "0, 0, 1"},
            expect = ACCEPTABLE,
            desc = "Completed, or stopped.")
    @Outcome(id = "1, 0, 1", expect = FORBIDDEN, desc = "Both win.")
    @Outcome(id = "0, 0, 0", expect = FORBIDDEN, desc = "Neither wins.")
    @State
    public static class EndAgainstCancel {
        private final Relay relay = Relay.asked(0);

        @Actor
        public void end() {
            relay.ended();
        }

        @Actor
        public void cancel() {
            relay.cancel();
        }

        @Arbiter
        public void afterwards(III_Result r) {
            r.r1 = relay.subscriber.completions();
            r.r2 = relay.subscriber.errors();
            r.r3 = relay.stops.get();
        }
    }

    /** The end of the source meets an error. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 0", "0, 1, 1"},
            expect = ACCEPTABLE,
            desc = "Completed, or stopped with the error.")
    @Outcome(id = "1, 1, .", expect = FORBIDDEN, desc = "Two terminal signals.")
    @Outcome(id = "0, 0, .", expect = FORBIDDEN, desc = "No terminal signal.")
    @State
    public static class EndAgainstError {
        private final Relay relay = Relay.asked(0);

        @Actor
        public void end() {
            relay.ended();
        }

        @Actor
        public void error() {
            relay.fail(new IllegalStateException("lost"));
        }

        @Arbiter
        public void afterwards(III_Result r) {
            r.r1 = relay.subscriber.completions();
            r.r2 = relay.subscriber.errors();
            r.r3 = relay.stops.get();
        }
    }

    /** Two errors. */
    @JCStressTest
    @Outcome(
            id = {"1, 1, 1"},
            expect = ACCEPTABLE,
            desc = "One goes out; the bringer of the other learns that it did not.")
    @Outcome(id = "2, .*", expect = FORBIDDEN, desc = "Two terminal signals.")
    @Outcome(id = "1, 2, .", expect = FORBIDDEN, desc = "Stopped twice.")
    @State
    public static class ErrorAgainstError {
        private final Relay relay = Relay.asked(1);
        private boolean one;
        private boolean other;

        @Actor
        public void one() {
            one = relay.fail(new IllegalStateException("lost"));
        }

        @Actor
        public void other() {
            other = relay.fail(new IllegalStateException("lost, too"));
        }

        @Arbiter
        public void afterwards(III_Result r) {
            r.r1 = relay.subscriber.errors();
            r.r2 = relay.stops.get();
            r.r3 = (one ? 1 : 0) + (other ? 1 : 0);
        }
    }

    /** A thread brings an item and then an error while another is at work. */
    @JCStressTest
    @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "The item, then the error.")
    @Outcome(id = "0, 1, .", expect = FORBIDDEN, desc = "The error overtakes the item that came before it.")
    @Outcome(id = "., 0, .", expect = FORBIDDEN, desc = "The error is lost.")
    @State
    public static class ArrivalAndErrorAgainstRequest {
        private final Relay relay = Relay.asked(2);

        @Actor
        public void source() {
            relay.arrived(1);
            relay.fail(new IllegalStateException("lost"));
        }

        @Actor
        public void request() {
            for (int i = 0; i < 5; i++) {
                relay.request(1);
            }
        }

        @Arbiter
        public void afterwards(III_Result r) {
            r.r1 = relay.subscriber.items();
            r.r2 = relay.subscriber.errors();
            r.r3 = relay.subscriber.breaches();
        }
    }

    /** An error meets a cancel. */
    @JCStressTest
    @Outcome(
            id = {"1, 1, 0", "0, 1, 0"},
            expect = ACCEPTABLE,
            desc = "The error, or nothing; stopped once.")
    @Outcome(id = "., 0, .", expect = FORBIDDEN, desc = "The source goes on.")
    @Outcome(id = "., 2, .", expect = FORBIDDEN, desc = "Stopped twice.")
    @State
    public static class ErrorAgainstCancel {
        private final Relay relay = Relay.asked(1);

        @Actor
        public void error() {
            relay.fail(new IllegalStateException("lost"));
        }

        @Actor
        public void cancel() {
            relay.cancel();
        }

        @Arbiter
        public void afterwards(III_Result r) {
            r.r1 = relay.subscriber.errors();
            r.r2 = relay.stops.get();
            r.r3 = relay.subscriber.breaches();
        }
    }

    /** The last item, the end of the source and a cancel, all at once. */
    @JCStressTest
    @Outcome(id = "1, 0, 1, 0", expect = ACCEPTABLE, desc = "The item and the completion.")
    @Outcome(id = "1, 0, 0, 1", expect = ACCEPTABLE, desc = "The item, then the cancel.")
    @Outcome(id = "0, 1, 0, 1", expect = ACCEPTABLE, desc = "The cancel; the item is discarded.")
    @Outcome(id = "0, 0, .*", expect = FORBIDDEN, desc = "The item is left behind.")
    @Outcome(id = "., ., 1, 1", expect = FORBIDDEN, desc = "Both the completion and the cancel win.")
    @State
    public static class ArrivalAgainstEndAgainstCancel {
        private final Relay relay = Relay.asked(1);

        @Actor
        public void arrival() {
            relay.arrived(1);
        }

        @Actor
        public void end() {
            relay.ended();
        }

        @Actor
        public void cancel() {
            relay.cancel();
        }

        @Arbiter
        public void afterwards(IIII_Result r) {
            r.r1 = relay.subscriber.items();
            r.r2 = relay.subscriber.discarded();
            r.r3 = relay.subscriber.completions();
            r.r4 = relay.stops.get();
        }
    }
}
