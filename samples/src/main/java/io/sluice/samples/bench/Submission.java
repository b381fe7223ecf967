package io.sluice.samples.bench;

/** Starts a connection's transfers through one of the interfaces. */
@FunctionalInterface
interface Submission {
    /**
     * Starts one.
     *
     * @param slot hears of its end
     * @param transfer which of the different transfers, from 0
     */
    void submit(Slot slot, int transfer);
}
