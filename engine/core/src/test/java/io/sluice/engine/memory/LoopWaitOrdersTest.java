package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.Signal;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.EveryOrder;
import io.sluice.testkit.EveryOrder.Actor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A wait on a loop, armed, disarmed and closed between the updates, the loop's steps and the end of its region. */
class LoopWaitOrdersTest {
    /** A signal, and a wait for it on a loop that runs when the test says so. */
    private static class OneWait {
        // no region is closed here, so no engine is asked
        final LocalRegion region = new LocalRegion(
                null,
                1,
                RegionOptions.readWrite(),
                RegionMemory.host(MemorySegment.ofArray(new long[1])),
                TransportRegistrations.none(),
                awaited -> {},
                () -> {});
        final Signal signal = region.signal(0);
        final ArrayDeque<Runnable> loop = new ArrayDeque<>();
        final List<Long> reached = new ArrayList<>();
        final List<SluiceException> errors = new ArrayList<>();
        final LoopWait wait = new LoopWait(region, 0, loop::add, this::called);
        long target;
        int armings;
        int disarmings;

        OneWait() {
            region.words().waits().add(0, wait);
        }

        private void called(SignalWait called, long value, @Nullable SluiceException error) {
            assertThat(called).isSameAs(wait);
            if (error == null) {
                assertThat(value).isGreaterThanOrEqualTo(target);
                reached.add(value);
                next(value);
            } else {
                assertThat(value).isZero();
                errors.add(error);
            }
        }

        /** Called by the callback with its value. */
        void next(long value) {}

        boolean arm(long value) {
            target = value;
            wait.arm(value);
            armings++;
            return true;
        }

        boolean add() {
            signal.add(1);
            return true;
        }

        boolean disarm() {
            if (wait.disarm()) {
                disarmings++;
                return true;
            }
            return false;
        }

        boolean close() {
            region.words().waits().close(new RegionClosedException("the test closes it"));
            return true;
        }

        void runLoop() {
            Runnable next = loop.remove();
            next.run();
        }

        Actor loop() {
            return Actor.whenever("loop", () -> !loop.isEmpty(), this::runLoop);
        }

        void checkOnce() {
            assertThat(loop).hasSizeLessThanOrEqualTo(1);
            assertThat(reached.size() + errors.size()).isLessThanOrEqualTo(armings - disarmings);
        }

        void checkAllCalled() {
            assertThat(reached.size() + errors.size()).isEqualTo(armings - disarmings);
        }
    }

    /** Each callback arms the wait for the next value. */
    private static final class Chain extends OneWait implements EveryOrder.Scenario {
        @Override
        void next(long value) {
            if (value < 4) {
                arm(value + 1);
            }
        }

        @Override
        public List<Actor> actors() {
            return List.of(
                    Actor.of("owner", () -> arm(1)),
                    Actor.of("one", this::add, this::add),
                    Actor.of("other", this::add, this::add),
                    loop());
        }

        @Override
        public void checkStep() {
            checkOnce();
        }

        @Override
        public void checkEnd() {
            checkAllCalled();
            assertThat(reached).last().isEqualTo(4L);
            assertThat(reached).isSorted().doesNotHaveDuplicates();
        }
    }

    /** It is given up, and armed again if that was in time. */
    private static final class GivenUp extends OneWait implements EveryOrder.Scenario {
        @Override
        public List<Actor> actors() {
            return List.of(
                    Actor.of("owner", () -> arm(1), this::disarm, () -> arm(2)),
                    Actor.of("peer", this::add, this::add),
                    loop());
        }

        @Override
        public void checkStep() {
            checkOnce();
        }

        @Override
        public void checkEnd() {
            checkAllCalled();
            assertThat(reached).hasSize(1);
        }
    }

    /** Its region is closed meanwhile. */
    private static final class Closing extends OneWait implements EveryOrder.Scenario {
        @Override
        void next(long value) {
            arm(value + 1);
        }

        @Override
        public List<Actor> actors() {
            return List.of(
                    Actor.of("owner", () -> arm(1)),
                    Actor.of("peer", this::add, this::add),
                    Actor.of("closer", this::close),
                    loop());
        }

        @Override
        public void checkStep() {
            checkOnce();
        }

        @Override
        public void checkEnd() {
            checkAllCalled();
            assertThat(errors).hasSize(1).first().isInstanceOf(RegionClosedException.class);
        }
    }

    /** It is closed itself: nothing comes of it any more but what is under way. */
    private static final class ClosedItself extends OneWait implements EveryOrder.Scenario {
        private int afterwards;

        @Override
        void next(long value) {
            afterwards++;
        }

        private boolean closeWait() {
            wait.close();
            afterwards = loop.isEmpty() ? 0 : -1;
            return true;
        }

        @Override
        public List<Actor> actors() {
            return List.of(
                    Actor.of("owner", () -> arm(1), this::closeWait),
                    Actor.of("peer", this::add, this::add, this::add),
                    loop());
        }

        @Override
        public void checkEnd() {
            assertThat(afterwards).isZero();
        }
    }

    @Test
    void eachArmingEndsOnceWithAValueThatItWaitedFor() {
        assertThat(EveryOrder.runAll(Chain::new)).isGreaterThan(100);
    }

    @Test
    void aWaitThatIsGivenUpHasNoCallback() {
        assertThat(EveryOrder.runAll(GivenUp::new)).isGreaterThan(10);
    }

    @Test
    void anArmedWaitHearsThatItsRegionIsClosed() {
        assertThat(EveryOrder.runAll(Closing::new)).isGreaterThan(20);
    }

    @Test
    void aClosedWaitIsCalledNoMore() {
        assertThat(EveryOrder.runAll(ClosedItself::new)).isGreaterThan(10);
    }
}
