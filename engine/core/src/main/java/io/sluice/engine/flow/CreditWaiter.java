package io.sluice.engine.flow;

/** Waits for credits of the engine, and is told apart from others by identity. Any thread. */
interface CreditWaiter {
    /** Credits have come back, and this one is first in the queue. */
    void creditsReturned();
}
