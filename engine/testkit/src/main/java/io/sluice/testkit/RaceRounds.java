package io.sluice.testkit;

import static org.assertj.core.api.Assertions.fail;

import io.sluice.jni.MachineFacts;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Rounds in which two threads do their part at about the same time, the one or the other ahead by some steps. All rounds are
 * run, however long that takes; one that does not go on fails the test. A round costs a microsecond or two where both threads
 * have a processor, and some turns of it where other programs keep it busy.
 */
public final class RaceRounds {
    private static final int STEPS = 256;
    private static final int SPINS = 500;
    private static final int MOST_PROCESSORS = 1024;
    private static final long PATIENCE_NANOS = Patience.BOUND.toNanos();

    /** One round of a race. All methods but {@link #other} are called on one thread. */
    public interface Round {
        /** The part of that thread. */
        void own();

        /** The part of the other thread. */
        void other();

        /**
         * Checks the outcome, when both have done their part.
         *
         * @param raced whether neither part was over before the other one began
         */
        void check(boolean raced);
    }

    private final IntFunction<? extends Round> rounds;
    private final int count;
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    private @Nullable Round round;
    private volatile int offered;
    private volatile int taken;
    private volatile int started;
    private volatile int begun;
    private volatile int ended;
    private volatile boolean over;
    private volatile @Nullable Throwable failure;

    private RaceRounds(int count, IntFunction<? extends Round> rounds) {
        this.count = count;
        this.rounds = rounds;
    }

    /**
     * Runs rounds.
     *
     * @param count of rounds
     * @param rounds makes each, from its number
     */
    public static void run(int count, IntFunction<? extends Round> rounds) {
        new RaceRounds(count, rounds).run();
    }

    private void run() {
        // on one processor they would take turns, and none would meet the other
        int first = processorFrom(0);
        int second = processorFrom(first + 1);
        Thread own = Thread.ofPlatform().daemon().name("race").start(() -> runOwn(first));
        Thread other = Thread.ofPlatform().daemon().name("race against it").start(() -> runOther(second));
        try {
            Patience.awaitSteps("the race", done, () -> offered);
        } finally {
            over = true;
            Patience.join(own);
            Patience.join(other);
        }
    }

    /** The next processor that this process may use; beyond all if there is none. */
    private static int processorFrom(int first) {
        CompletableFuture<Integer> found = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            int processor = first;
            while (processor < MOST_PROCESSORS && MachineFacts.setAffinity(processor) != 0) {
                processor++;
            }
            found.complete(processor);
        });
        return Patience.await(found);
    }

    private void runOwn(int processor) {
        MachineFacts.setAffinity(processor);
        try {
            for (int i = 1; i <= count && !over; i++) {
                Round now = rounds.apply(i - 1);
                round = now;
                offered = i;
                await("taken", i, () -> taken);
                started = i;
                steps(STEPS / 2);
                boolean late = ended == i;
                now.own();
                boolean early = begun != i;
                await("ended", i, () -> ended);
                now.check(!late && !early);
            }
            done.complete(null);
        } catch (Throwable thrown) {
            done.completeExceptionally(thrown);
        }
    }

    private void runOther(int processor) {
        MachineFacts.setAffinity(processor);
        try {
            for (int number = 1; number <= count; number++) {
                await(number, () -> offered);
                if (over) {
                    return;
                }
                Round now = Objects.requireNonNull(round);
                taken = number;
                // where both have a processor, both are at their start from here on
                await(number, () -> started);
                if (over) {
                    return;
                }
                steps(number % STEPS);
                begun = number;
                now.other();
                ended = number;
            }
        } catch (Throwable thrown) {
            failure = thrown;
        }
    }

    /** Waits for the first thread, which has bounds of its own. */
    private void await(int number, IntSupplier state) {
        for (int spins = 0; state.getAsInt() != number && !over; spins++) {
            pause(spins);
        }
    }

    private void await(String what, int number, IntSupplier state) {
        long since = 0;
        for (int spins = 0; state.getAsInt() != number; spins++) {
            pause(spins);
            if (spins >= SPINS) {
                Throwable why = failure;
                long now = System.nanoTime();
                since = since == 0 ? now : since;
                if (why != null) {
                    throw new AssertionError("the other thread has failed in round " + number, why);
                } else if (now - since > PATIENCE_NANOS) {
                    fail("round " + number + " is not " + what + " within " + Patience.BOUND);
                }
            }
        }
    }

    /** Gives the processor away when the other thread seems to have none. */
    private static void pause(int spins) {
        if (spins < SPINS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }

    private static void steps(int count) {
        for (int i = 0; i < count; i++) {
            Thread.onSpinWait();
        }
    }
}
