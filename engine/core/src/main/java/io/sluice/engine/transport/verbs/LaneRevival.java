package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import java.util.function.BooleanSupplier;

/** When lanes that are down are tried again: soon at first, then ever less often. */
final class LaneRevival extends Deadline {
    private static final long FIRST_NANOS = 2_000_000_000L;
    private static final long LAST_NANOS = 60_000_000_000L;

    private final EventLoop loop;
    private final BooleanSupplier revive;
    private long nanos = FIRST_NANOS;

    /**
     * None is down yet.
     *
     * @param revive tries all that are down; says whether some still are
     */
    LaneRevival(EventLoop loop, BooleanSupplier revive) {
        this.loop = loop;
        this.revive = revive;
    }

    /** Some are down. */
    void tryLater() {
        loop.arm(this, loop.now() + nanos);
    }

    /** All work: the next that goes down is tried soon. */
    void reset() {
        nanos = FIRST_NANOS;
    }

    void stop() {
        loop.disarm(this);
    }

    @Override
    protected void expired() {
        nanos = Math.min(nanos * 2, LAST_NANOS);
        if (revive.getAsBoolean()) {
            tryLater();
        }
    }
}
