package io.sluice.engine.memory;

import io.sluice.engine.SluiceException;

/** A waiter for a counter, as {@link SignalWaits} uses it. Called by any thread, several at a time. */
interface SignalWaiter {
    /** Whether it waits and the value satisfies it. */
    boolean isSatisfiedBy(long value);

    /** Whether it stays registered, to wait again; otherwise it is removed before it is called. */
    boolean stays();

    /** Called when the counter has reached the value. Only the first call of a wait counts. */
    void reached(long value);

    /** Called when the counter will not change any more. */
    void failed(SluiceException why);
}
