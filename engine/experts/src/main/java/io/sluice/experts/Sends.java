package io.sluice.experts;

import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommCallback;
import org.jspecify.annotations.Nullable;

/** The puts to a rank out of one set of memory: it may be written again when all have ended. */
final class Sends implements CommCallback {
    private final BufferHost host;
    private final int rank;
    private int underWay;

    Sends(BufferHost host, int rank) {
        this.host = host;
        this.rank = rank;
    }

    /** One begins, which ends by {@link #ended}. */
    CommCallback begun() {
        underWay++;
        return this;
    }

    /** One that begun was called for has not begun. */
    void refused() {
        underWay--;
    }

    boolean isIdle() {
        return underWay == 0;
    }

    @Override
    public void ended(@Nullable SluiceException error) {
        underWay--;
        if (error != null) {
            host.putFailed(rank, error);
        }
        host.signal();
    }
}
