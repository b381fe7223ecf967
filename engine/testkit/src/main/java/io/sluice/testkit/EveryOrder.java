package io.sluice.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Runs every order in which the steps of several threads can follow each other, on one thread: what a race may bring about at
 * the granularity of the steps is brought about for certain, and a failure comes back each time with its order.
 */
public final class EveryOrder {
    private static final int LONGEST_ORDER = 200;

    // of the order that runs: who stepped, as an index among those who could, and how many could
    private final List<Integer> chosen = new ArrayList<>();
    private final List<Integer> widths = new ArrayList<>();
    private final List<String> names = new ArrayList<>();

    private EveryOrder() {}

    /** One thread of a scenario: its steps, one after the other, each of which no other thread can interrupt. */
    public static final class Actor {
        private final String name;
        private final BooleanSupplier canStep;
        private final Runnable step;

        private Actor(String name, BooleanSupplier canStep, Runnable step) {
            this.name = name;
            this.canStep = canStep;
            this.step = step;
        }

        /**
         * One that does a list of things.
         *
         * @param name for the reports
         * @param steps in their order; one that gives false is the last
         * @return the actor
         */
        public static Actor of(String name, BooleanSupplier... steps) {
            int[] done = new int[1];
            return new Actor(name, () -> done[0] < steps.length, () -> {
                if (!steps[done[0]++].getAsBoolean()) {
                    done[0] = steps.length;
                }
            });
        }

        /**
         * One that does the same thing as often as there is something to do.
         *
         * @param name for the reports
         * @param canStep whether there is something to do now
         * @param step does it
         * @return the actor
         */
        public static Actor whenever(String name, BooleanSupplier canStep, Runnable step) {
            return new Actor(name, canStep, step);
        }

        /**
         * The same, but it does not begin before something is so.
         *
         * @param reached what it waits for; asked before each step, so it must stay so
         * @return another actor
         */
        public Actor after(BooleanSupplier reached) {
            return new Actor(name, () -> reached.getAsBoolean() && canStep.getAsBoolean(), step);
        }
    }

    /** A fresh start of the code under test. */
    public interface Scenario {
        /**
         * The actors that take part.
         *
         * @return always the same ones in the same order
         */
        List<Actor> actors();

        /** Throws unless what must always hold does; called after each step. */
        default void checkStep() {}

        /** Throws unless the final invariant holds; called when no actor can step any more. */
        void checkEnd();
    }

    /**
     * Runs all orders.
     *
     * @param scenario makes the same scenario again and again
     * @return how many orders there are
     * @throws AssertionError if a check fails, with the order that led to it
     */
    public static long runAll(Supplier<? extends Scenario> scenario) {
        EveryOrder search = new EveryOrder();
        long orders = 0;
        do {
            search.runNext(scenario.get());
            orders++;
        } while (search.turnToTheNext());
        return orders;
    }

    /** Follows what is chosen, and from there on always the first who can step. */
    private void runNext(Scenario scenario) {
        List<Actor> actors = scenario.actors();
        names.clear();
        try {
            for (int depth = 0; ; depth++) {
                List<Actor> ready = actors.stream()
                        .filter(actor -> actor.canStep.getAsBoolean())
                        .toList();
                if (ready.isEmpty()) {
                    break;
                }
                if (depth == LONGEST_ORDER) {
                    throw new AssertionError("it does not end");
                }
                if (depth == chosen.size()) {
                    chosen.add(0);
                    widths.add(ready.size());
                }
                Actor next = ready.get(chosen.get(depth));
                names.add(next.name);
                next.step.run();
                scenario.checkStep();
            }
            scenario.checkEnd();
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("in the order " + String.join(", ", names) + ": " + e.getMessage(), e);
        }
    }

    /** Chooses the next order; false if that was the last. */
    private boolean turnToTheNext() {
        while (!chosen.isEmpty()) {
            int last = chosen.size() - 1;
            int choice = chosen.get(last) + 1;
            if (choice < widths.get(last)) {
                chosen.set(last, choice);
                return true;
            }
            chosen.removeLast();
            widths.removeLast();
        }
        return false;
    }
}
