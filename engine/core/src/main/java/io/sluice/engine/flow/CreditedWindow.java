package io.sluice.engine.flow;

import io.sluice.engine.InFlightWindow;

/** A window that reports one pair of credits. Thread-safe. */
abstract class CreditedWindow implements InFlightWindow {
    final Credits credits;

    CreditedWindow(Credits credits) {
        this.credits = credits;
    }

    /** Returns both kinds. */
    abstract void release(int operations, long bytes);

    final void releaseOperation() {
        release(1, 0);
    }

    final void releaseBytes(long count) {
        release(0, count);
    }

    @Override
    public final int operationLimit() {
        return credits.operationLimit();
    }

    @Override
    public final long byteLimit() {
        return credits.byteLimit();
    }

    @Override
    public final int operations() {
        return credits.operations();
    }

    @Override
    public final long bytes() {
        return credits.bytes();
    }

    @Override
    public final int maxOperationsSeen() {
        return credits.maxOperations();
    }

    @Override
    public final long maxBytesSeen() {
        return credits.maxBytes();
    }
}
