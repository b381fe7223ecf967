package io.sluice.engine.progress;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.transport.Deadline;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeadlineQueueTest {
    private final DeadlineQueue queue = new DeadlineQueue();

    /** All are equal, so that a queue that asks {@code equals} instead of identity mixes them up. */
    private static final class Alike extends Deadline {
        @Override
        protected void expired() {
            throw new AssertionError("the queue hands deadlines out and does not expire them");
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Alike;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    @Test
    void emptyQueueHasNothingToExpire() {
        assertThat(queue.isEmpty()).isTrue();
        assertThat(queue.pollExpired(Long.MAX_VALUE)).isNull();
        assertThat(queue.pollExpired(Long.MIN_VALUE)).isNull();
    }

    @Test
    void expiresAtItsTimeAndNotBefore() {
        Deadline deadline = new Alike();
        queue.arm(deadline, 100);
        assertThat(queue.pollExpired(99)).isNull();
        assertThat(queue.earliest()).isEqualTo(100);
        assertThat(queue.pollExpired(100)).isSameAs(deadline);
        assertThat(deadline.place()).isEqualTo(Deadline.NOT_ARMED);
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void armingAgainMovesIt() {
        Deadline first = new Alike();
        Deadline second = new Alike();
        queue.arm(first, 100);
        queue.arm(second, 200);
        queue.arm(first, 300);
        assertThat(queue.pollExpired(1000)).isSameAs(second);
        assertThat(queue.pollExpired(1000)).isSameAs(first);
        assertThat(queue.pollExpired(1000)).isNull();
    }

    @Test
    void disarmingWhatIsNotArmedDoesNothing() {
        Deadline armed = new Alike();
        Deadline never = new Alike();
        queue.arm(armed, 1);
        queue.disarm(never);
        queue.disarm(armed);
        queue.disarm(armed);
        assertThat(queue.isEmpty()).isTrue();
        queue.arm(armed, 2);
        assertThat(queue.pollExpired(2)).isSameAs(armed);
    }

    /** Around zero, and where {@link System#nanoTime()} wraps. */
    @ParameterizedTest
    @ValueSource(
            longs = {0, -500, 1L << 40, Long.MAX_VALUE, Long.MAX_VALUE - 500, Long.MIN_VALUE, Long.MIN_VALUE + 500})
    void randomOperationsAgreeWithAnObviousQueue(long start) {
        Random random = new Random(start + 17);
        List<Deadline> all = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            all.add(new Alike());
        }
        // by its distance from the start, which does not wrap
        Map<Deadline, Long> armed = new IdentityHashMap<>();
        long passed = 0;
        for (int i = 0; i < 50_000; i++) {
            Deadline one = all.get(random.nextInt(all.size()));
            switch (random.nextInt(5)) {
                case 0, 1 -> {
                    long in = passed + random.nextInt(1000) - 100;
                    queue.arm(one, start + in);
                    armed.put(one, in);
                }
                case 2 -> {
                    queue.disarm(one);
                    armed.remove(one);
                }
                default -> {
                    passed += random.nextInt(20);
                    Deadline expired = queue.pollExpired(start + passed);
                    if (expired == null) {
                        assertThat(armed.values()).allMatch(later(passed));
                    } else {
                        long at = armed.remove(expired);
                        assertThat(at).isLessThanOrEqualTo(passed);
                        assertThat(armed.values()).noneMatch(other -> other < at);
                    }
                }
            }
            assertThat(queue.isEmpty()).isEqualTo(armed.isEmpty());
            if (!armed.isEmpty()) {
                assertThat(queue.earliest()).isEqualTo(start + Collections.min(armed.values()));
            }
        }
        for (Deadline one : all) {
            assertThat(one.place() != Deadline.NOT_ARMED).isEqualTo(armed.containsKey(one));
        }
    }

    private static Predicate<Long> later(long than) {
        return at -> at > than;
    }
}
