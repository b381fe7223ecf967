package io.sluice.samples.kvcache;

/** The answer to a request that wants room in the page pool. */
public sealed interface Admission {

    /**
     * There is room.
     *
     * @param plan what to move and what is reused; its pages are taken
     */
    record Admitted(RequestPlan plan) implements Admission {}

    /**
     * There will be room, but other requests hold too much of it now: ask again after one of them has ended. Nothing
     * was taken or evicted.
     *
     * @param pagesNeeded page ids that the request needs beyond those it can reuse
     * @param pagesAvailable page ids that are free or could be evicted now
     */
    record Busy(int pagesNeeded, int pagesAvailable) implements Admission {}
}
