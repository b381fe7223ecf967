package io.sluice.collectives.run;

import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/** What was called on this rank and has not ended. All but the public methods is the loop's. */
public abstract class Pending {
    private final RunEnd end;
    private volatile boolean gated;
    private volatile @Nullable SluiceException refusal;
    private int underWay;

    long deadline;
    boolean quiescing;

    @Nullable
    SluiceException sendError;

    // the neighbours among all that have not ended
    @Nullable
    Pending older;

    @Nullable
    Pending newer;

    Pending(RunEnd end) {
        this.end = end;
    }

    /** Holds it back until {@link #open}. Before it is submitted. */
    public final void gate() {
        gated = true;
    }

    /** Lets it begin. Any thread; the loop must be signalled. */
    public final void open() {
        gated = false;
    }

    /** Says that it cannot take part; before {@link #open}. */
    public final void refuse(SluiceException error) {
        refusal = error;
    }

    final boolean isGated() {
        return gated;
    }

    @Nullable
    final SluiceException refusal() {
        return refusal;
    }

    /** What it is, for messages. */
    abstract String text();

    /** The rank from which it awaits something, or -1. */
    abstract int awaited();

    /** Prepares for a run. */
    final void reset() {
        underWay = 0;
        sendError = null;
        quiescing = false;
    }

    /** Whether messages of it may still read memory. */
    final boolean isUnderWay() {
        return underWay > 0;
    }

    final void sendBegins() {
        underWay++;
    }

    final void sendEnded(@Nullable SluiceException error) {
        underWay--;
        if (error != null && sendError == null) {
            sendError = error;
        }
    }

    final void end(@Nullable SluiceException error) {
        end.ended(error);
    }
}
