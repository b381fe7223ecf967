package io.sluice.samples.bench;

/** Starts a connection's transfers through one of the interfaces. Both methods are for the thread that drives them. */
@FunctionalInterface
interface Submission {
    /**
     * Starts one.
     *
     * @param slot is called at its end, perhaps before this returns
     * @param transfer which of the different transfers, from 0
     */
    void submit(Slot slot, int transfer);

    /** The slot's transfer has ended, and its callback has returned or calls this. */
    default void ended(Slot slot) {}
}
