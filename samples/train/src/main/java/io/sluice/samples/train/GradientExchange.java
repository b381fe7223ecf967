package io.sluice.samples.train;

import java.lang.foreign.MemorySegment;

/** How the ranks of a training add up their gradients. Used by one thread. */
public interface GradientExchange extends AutoCloseable {
    /** This process among those that train, from 0 on; it may go down when another one is lost. */
    int rank();

    /** How many train. */
    int size();

    /** The memory whose floats are added up. */
    MemorySegment gradients();

    /**
     * Adds up the gradients of all ranks, in the order of an all-reduce by recursive doubling, and waits for that.
     *
     * @return whether the sums are there, on every rank; else ranks were lost, the others have new numbers, and all have to
     *     compute their gradients of this step again
     */
    boolean sum();

    /** Whether all ranks call this with the same number. */
    boolean isSame(long number);

    @Override
    void close();

    /** Of a process that trains alone. */
    record Alone(MemorySegment gradients) implements GradientExchange {
        @Override
        public int rank() {
            return 0;
        }

        @Override
        public int size() {
            return 1;
        }

        @Override
        public boolean sum() {
            return true;
        }

        @Override
        public boolean isSame(long number) {
            return true;
        }

        @Override
        public void close() {}
    }
}
