package io.sluice.testkit;

import java.time.Duration;
import java.util.function.Supplier;

/**
 * Rounds with a short time-out of the engine, which something silent must exceed and what lives must not. A round that fails is
 * repeated with a longer one only if the machine kept a thread of this process from a processor for a good part of the time-out
 * meanwhile: what lives may have been silent then.
 */
public final class SteadyRounds {
    private static final int TIMES_LONGER = 4;

    private SteadyRounds() {}

    /**
     * One round.
     *
     * @param <E> what it may throw
     */
    @FunctionalInterface
    public interface Round<E extends Exception> {
        void run(Duration timeout) throws E;
    }

    /**
     * Runs rounds until one holds. Everything that a round needs is made within it.
     *
     * @param timeout of the first round, on an idle machine
     * @param round gets the time-out
     */
    public static <E extends Exception> void run(Duration timeout, Round<E> round) throws E {
        for (Duration each = first(timeout); !holds(each, round); each = each.multipliedBy(TIMES_LONGER)) {
            System.out.println("a round with a time-out of " + each + " is repeated: threads had no processor");
        }
    }

    /** Half as long as one that may not be repeated: most rounds hold, and all of them wait for it. */
    static Duration first(Duration timeout) {
        Duration half = Patience.scaled(timeout).dividedBy(2);
        return half.compareTo(timeout) > 0 ? half : timeout;
    }

    private static <E extends Exception> boolean holds(Duration timeout, Round<E> round) throws E {
        try (HeldUpThreads threads = new HeldUpThreads()) {
            return holds(timeout, round, threads::longest);
        }
    }

    /** False if the round has failed and may be repeated. */
    static <E extends Exception> boolean holds(Duration timeout, Round<E> round, Supplier<Duration> heldUp) throws E {
        try {
            round.run(timeout);
            return true;
        } catch (Exception | AssertionError e) {
            // what a longer one ends must still come within the test's patience
            boolean mayBeLonger =
                    timeout.multipliedBy(TIMES_LONGER).compareTo(Patience.BOUND.dividedBy(3)) <= 0;
            if (mayBeLonger && heldUp.get().compareTo(timeout.dividedBy(2)) > 0) {
                return false;
            }
            throw e;
        }
    }
}
