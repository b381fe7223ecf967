package io.sluice.engine.memory;

import io.sluice.engine.SluiceException;

/** One that waits for a counter, as {@link SignalWaits} sees it. Any thread, several at a time. */
interface SignalWaiter {
    /** Whether it waits, and this is what it waits for. */
    boolean isSatisfiedBy(long value);

    /** Whether it stays where it has entered itself, to wait again; else it is taken out before it is told. */
    boolean stays();

    /** The counter has this value. Only the first news of a wait counts. */
    void reached(long value);

    /** The counter will not change any more. */
    void failed(SluiceException why);
}
