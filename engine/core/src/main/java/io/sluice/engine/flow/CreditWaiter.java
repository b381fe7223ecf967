package io.sluice.engine.flow;

/** A waiter for credits of the engine, distinguished by identity. Called by any thread. */
interface CreditWaiter {
    /** Called when credits were released and this waiter is first in the queue. */
    void creditsReturned();
}
