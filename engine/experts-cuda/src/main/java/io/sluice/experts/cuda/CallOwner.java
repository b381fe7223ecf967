package io.sluice.experts.cuda;

/** What calls of a mode have their memory from, and give it back to. Any thread. */
interface CallOwner {
    /** Gives back what holds the result of a dispatch. */
    void freeSlot(int slot);

    /** Gives memory back, once what uses it is done. */
    void giveBack(OwnRegion memory);

    /** A call is closed. */
    void closed(AutoCloseable call);
}
