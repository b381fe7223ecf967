package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import java.util.function.BooleanSupplier;

/** Schedules attempts to revive lanes that are down: soon at first, then with growing pauses. */
final class LaneRevival extends Deadline {
    private static final long FIRST_NANOS = 2_000_000_000L;
    private static final long LAST_NANOS = 60_000_000_000L;

    private final EventLoop loop;
    private final BooleanSupplier revive;
    private long nanos = FIRST_NANOS;

    /**
     * Creates the schedule; no lane is down yet.
     *
     * @param revive tries all lanes that are down; returns whether some still are
     */
    LaneRevival(EventLoop loop, BooleanSupplier revive) {
        this.loop = loop;
        this.revive = revive;
    }

    /** A lane went down. */
    void tryLater() {
        loop.arm(this, loop.now() + nanos);
    }

    /** All lanes work: the next one that goes down is tried soon. */
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
