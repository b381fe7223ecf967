package io.sluice.vertx;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.J_Result;

/** Items, fetches, ends and the handler that is taken away against each other. Outcomes that are not listed are forbidden. */
final class DemandStreamStress {
    private static final int MANY = 16;

    private DemandStreamStress() {}

    /** A stream of what the test brings, with what its handlers and its source have heard. */
    private static final class Stream extends DemandStream<Integer> {
        final HandDrivenContext loop;
        final AtomicLong asked = new AtomicLong();
        final AtomicInteger stops = new AtomicInteger();
        final AtomicInteger items = new AtomicInteger();
        final AtomicInteger unwanted = new AtomicInteger();
        final AtomicInteger ends = new AtomicInteger();
        final AtomicInteger errors = new AtomicInteger();
        final AtomicInteger breaches = new AtomicInteger();
        private final AtomicInteger inside = new AtomicInteger();

        Stream(HandDrivenContext loop, int limit) {
            super(loop, limit);
            this.loop = loop;
        }

        /** One that has begun, and has asked for as much as it may. */
        static Stream flowing(int limit) {
            Stream stream = new Stream(new HandDrivenContext(), limit);
            stream.endHandler(nothing -> stream.ended(stream.ends));
            stream.exceptionHandler(error -> stream.ended(stream.errors));
            stream.handler(stream::item);
            stream.loop.run();
            return stream;
        }

        /** One that has begun, and is to fetch. */
        static Stream paused(int limit) {
            Stream stream = new Stream(new HandDrivenContext(), limit);
            stream.pause();
            stream.endHandler(nothing -> stream.ended(stream.ends));
            stream.exceptionHandler(error -> stream.ended(stream.errors));
            stream.handler(stream::item);
            stream.loop.run();
            return stream;
        }

        private void item(int any) {
            enter();
            items.incrementAndGet();
            inside.decrementAndGet();
        }

        private void ended(AtomicInteger how) {
            enter();
            how.incrementAndGet();
            inside.decrementAndGet();
        }

        /** Two handlers at a time, or one after the end. */
        private void enter() {
            if (inside.incrementAndGet() != 1 || ends.get() + errors.get() > 0) {
                breaches.incrementAndGet();
            }
        }

        @Override
        void begin() {}

        @Override
        void request(long count) {
            asked.addAndGet(count);
        }

        @Override
        void stop() {
            stops.incrementAndGet();
        }

        @Override
        void unwanted(Integer item) {
            unwanted.incrementAndGet();
        }
    }

    /** Two threads fetch from a stream that is paused. */
    @JCStressTest
    @Outcome(id = "2", expect = ACCEPTABLE, desc = "The source is asked for both.")
    @Outcome(id = "[013]", expect = FORBIDDEN, desc = "Demand is lost, or invented.")
    @State
    public static class FetchAgainstFetch {
        private final Stream stream = Stream.paused(MANY);

        @Actor
        public void one() {
            stream.fetch(1);
        }

        @Actor
        public void other() {
            stream.fetch(1);
        }

        @Arbiter
        public void afterwards(J_Result r) {
            stream.loop.run();
            r.r1 = stream.asked.get();
        }
    }

    /** The limit is reached; an item makes room while the loop is at work and more is fetched. */
    @JCStressTest
    @Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "The item, and the source is asked for the next.")
    @Outcome(id = "., 1", expect = FORBIDDEN, desc = "Demand is lost: the source is never asked again.")
    @Outcome(id = "., 3", expect = FORBIDDEN, desc = "More is asked for than the limit allows.")
    @State
    public static class FetchAgainstArrivalAgainstLoop {
        private final Stream stream = Stream.paused(1);

        public FetchAgainstArrivalAgainstLoop() {
            stream.fetch(1);
            stream.loop.run();
        }

        @Actor
        public void fetch() {
            stream.fetch(5);
        }

        @Actor
        public void source() {
            stream.arrived(1);
        }

        @Actor
        public void loop() {
            stream.loop.run();
        }

        @Arbiter
        public void afterwards(II_Result r) {
            stream.loop.run();
            r.r1 = stream.items.get();
            r.r2 = (int) stream.asked.get();
        }
    }

    /** Two threads bring an item, and the loop hands over. */
    @JCStressTest
    @Outcome(id = "2, 0, 0", expect = ACCEPTABLE, desc = "Both are handed over, one after the other.")
    @Outcome(id = "[01], .*", expect = FORBIDDEN, desc = "An item is left behind.")
    @State
    public static class ArrivalAgainstArrivalAgainstLoop {
        private final Stream stream = Stream.flowing(MANY);

        @Actor
        public void one() {
            stream.arrived(1);
        }

        @Actor
        public void other() {
            stream.arrived(2);
        }

        @Actor
        public void loop() {
            stream.loop.run();
        }

        @Arbiter
        public void afterwards(III_Result r) {
            stream.loop.run();
            r.r1 = stream.items.get();
            r.r2 = stream.unwanted.get();
            r.r3 = stream.breaches.get();
        }
    }

    /** The source brings its last item and ends, while the loop hands over. */
    @JCStressTest
    @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "The item, then the end.")
    @Outcome(id = "0, .*", expect = FORBIDDEN, desc = "The item is lost.")
    @Outcome(id = "., 0, .", expect = FORBIDDEN, desc = "The end is lost.")
    @State
    public static class ArrivalAndEndAgainstLoop {
        private final Stream stream = Stream.flowing(MANY);

        @Actor
        public void source() {
            stream.arrived(1);
            stream.finish(null);
        }

        @Actor
        public void loop() {
            stream.loop.run();
        }

        @Arbiter
        public void afterwards(III_Result r) {
            stream.loop.run();
            r.r1 = stream.items.get();
            r.r2 = stream.ends.get();
            r.r3 = stream.breaches.get() + stream.unwanted.get();
        }
    }

    /** An item comes while the handler is taken away. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 1, 0", "0, 1, 1, 0"},
            expect = ACCEPTABLE,
            desc = "Handed over, or given back.")
    @Outcome(id = "0, 0, .*", expect = FORBIDDEN, desc = "The item is left behind.")
    @Outcome(id = "., ., 0, .", expect = FORBIDDEN, desc = "The source goes on.")
    @State
    public static class ArrivalAgainstHandlerTaken {
        private final Stream stream = Stream.flowing(MANY);

        @Actor
        public void source() {
            stream.arrived(1);
        }

        @Actor
        public void loop() {
            stream.loop.run();
        }

        @Actor
        public void user() {
            stream.handler(null);
        }

        @Arbiter
        public void afterwards(IIII_Result r) {
            stream.loop.run();
            r.r1 = stream.items.get();
            r.r2 = stream.unwanted.get();
            r.r3 = stream.stops.get();
            r.r4 = stream.ends.get() + stream.errors.get() + stream.breaches.get();
        }
    }

    /** A cancel meets the end of the client. */
    @JCStressTest
    @Outcome(
            id = {"1, 1, 0", "0, 1, 1"},
            expect = ACCEPTABLE,
            desc = "One of the two is the end, and the source is stopped once.")
    @Outcome(id = "., 2, .", expect = FORBIDDEN, desc = "Stopped twice.")
    @State
    public static class CancelAgainstClose {
        private final Stream stream = Stream.flowing(MANY);

        @Actor
        public void user() {
            stream.endNow(new IllegalStateException("cancelled"));
        }

        @Actor
        public void client() {
            stream.clientClosed();
        }

        @Arbiter
        public void afterwards(III_Result r) {
            stream.loop.run();
            r.r1 = stream.errors.get();
            r.r2 = stream.stops.get();
            r.r3 = stream.ends.get();
        }
    }

    /** A cancel meets the handler that is taken away. */
    @JCStressTest
    @Outcome(
            id = {"1, 1, 0", "0, 1, 0"},
            expect = ACCEPTABLE,
            desc = "Stopped once; the error is reported, or there is no handler any more.")
    @Outcome(id = "., 2, .", expect = FORBIDDEN, desc = "Stopped twice.")
    @Outcome(id = "., 0, .", expect = FORBIDDEN, desc = "The source goes on.")
    @State
    public static class CancelAgainstHandlerTaken {
        private final Stream stream = Stream.flowing(MANY);

        @Actor
        public void user() {
            stream.handler(null);
        }

        @Actor
        public void other() {
            stream.endNow(new IllegalStateException("cancelled"));
        }

        @Actor
        public void loop() {
            stream.loop.run();
        }

        @Arbiter
        public void afterwards(III_Result r) {
            stream.loop.run();
            r.r1 = stream.errors.get();
            r.r2 = stream.stops.get();
            r.r3 = stream.ends.get() + stream.breaches.get();
        }
    }

    /** The source ends while the user cancels. */
    @JCStressTest
    @Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "It has ended by itself, and is not stopped.")
    @Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "It is cancelled and stopped.")
    @State
    public static class EndAgainstCancel {
        private final Stream stream = Stream.flowing(MANY);

        @Actor
        public void source() {
            stream.finish(null);
        }

        @Actor
        public void user() {
            stream.endNow(new IllegalStateException("cancelled"));
        }

        @Arbiter
        public void afterwards(III_Result r) {
            stream.loop.run();
            r.r1 = stream.ends.get();
            r.r2 = stream.errors.get();
            r.r3 = stream.stops.get();
        }
    }
}
