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

    // times, by System.nanoTime; 0 for none
    private @Nullable PeerWaits waits;
    private long called;
    private boolean beginsWhenCalled;
    private long began;
    private long waitsSince;
    private long latest;
    private long waited;
    private long queued;
    private long waitedInAll;
    private int waitsFor = -1;
    private int waitedLastFor = -1;

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

    /** Whether messages of it, or other threads, may still access memory. */
    boolean isUnderWay() {
        return underWay > 0;
    }

    /** Nothing runs any more; what other threads still do must have ended when this returns. */
    void abandon() {}

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

    // ---- times: one or two looks at the clock where little is moved ----

    /** Counts waits for ranks. Before it is submitted for the first time. */
    public final void countsInto(PeerWaits counters) {
        waits = counters;
    }

    /**
     * Takes note of a call, before the loop takes the run.
     *
     * @param onLoop whether the loop's thread calls, which takes the run at once
     */
    final void called(long now, long timeoutNanos, boolean onLoop) {
        called = now;
        deadline = now + timeoutNanos;
        beginsWhenCalled = onLoop;
    }

    /** The loop has taken the run, which begins now or is queued. */
    final void begins(boolean now) {
        beginsWhenCalled &= now;
    }

    /** Called before steps are taken. */
    final void resumes() {
        if (waitsFor >= 0) {
            latest = System.nanoTime();
        }
    }

    /** Called after steps were taken. */
    final void pauses(boolean wentOn) {
        int awaited = awaited();
        if (!wentOn && awaited == waitsFor) {
            return;
        }
        stopWaiting();
        if (awaited >= 0) {
            // little has happened since the call
            boolean soon = beginsWhenCalled && began == 0 && isShort();
            latest = soon ? called : System.nanoTime();
            waitsFor = awaited;
            waitsSince = latest;
        }
        if (began == 0 && latest != 0) {
            began = latest;
        }
    }

    private void stopWaiting() {
        PeerWaits counters = waits;
        if (waitsFor >= 0 && counters != null) {
            waited += latest - waitsSince;
            counters.waited(waitsFor, latest - waitsSince);
            waitedLastFor = waitsFor;
        }
        waitsFor = -1;
    }

    /** Whether so little is moved that the time of the last arrival may stand for the end. */
    boolean isShort() {
        return false;
    }

    /**
     * Takes the times of a run that has ended.
     *
     * @param timeoutNanos what it was submitted with
     * @return from the call to the end, in nanoseconds
     */
    public final long endTimes(long timeoutNanos) {
        long called = deadline - timeoutNanos;
        if (latest == 0 || waitsFor >= 0 || !isShort()) {
            latest = System.nanoTime();
        }
        stopWaiting();
        PeerWaits counters = waits;
        if (waitedLastFor >= 0 && counters != null) {
            counters.last(waitedLastFor);
        }
        long duration = latest - called;
        queued = began == 0 ? 0 : began - called;
        waitedInAll = waited;
        began = 0;
        latest = 0;
        waited = 0;
        waitedLastFor = -1;
        return duration;
    }

    /** Returns how long the run that has ended was queued. */
    public final long queuedNanos() {
        return queued;
    }

    /** Returns how long the run that has ended has waited for other ranks. */
    public final long waitedNanos() {
        return waitedInAll;
    }
}
