package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.EventLoop;
import java.util.function.BooleanSupplier;

/** Since when a lane that has work has made no progress. */
final class LaneWatchdog {
    private final EventLoop loop;
    private final BooleanSupplier hasWork;
    private long lastProgress;

    LaneWatchdog(EventLoop loop, BooleanSupplier hasWork) {
        this.loop = loop;
        this.hasWork = hasWork;
        this.lastProgress = loop.now();
    }

    /** Called before work is added: an idle lane has made no progress only because it had no work. */
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
