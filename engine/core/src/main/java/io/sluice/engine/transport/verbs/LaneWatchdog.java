package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.EventLoop;
import java.util.function.BooleanSupplier;

/** Measures for how long a lane with work has made no progress. */
final class LaneWatchdog {
    private final EventLoop loop;
    private final BooleanSupplier hasWork;
    private long lastProgress;

    LaneWatchdog(EventLoop loop, BooleanSupplier hasWork) {
        this.loop = loop;
        this.hasWork = hasWork;
        this.lastProgress = loop.now();
    }

    /** Called before work is added: an idle lane made no progress only for lack of work. */
    void workBegins() {
        if (!hasWork.getAsBoolean()) {
            progress();
        }
    }

    void progress() {
        lastProgress = loop.now();
    }

    boolean isStuck(long now, long timeoutNanos) {
        return hasWork.getAsBoolean() && now - lastProgress > timeoutNanos;
    }
}
