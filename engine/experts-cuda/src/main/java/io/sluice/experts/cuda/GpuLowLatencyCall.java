package io.sluice.experts.cuda;

import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;

/**
 * A low-latency call that was checked and prepared, and is started again and again, in whole or in halves. One thread of a buffer starts
 * calls at a time, and all ranks start the same ones in the same order. Starting allocates nothing and waits for nothing, so that a
 * poller may do it. Closing is for any thread.
 */
public abstract sealed class GpuLowLatencyCall implements AutoCloseable permits GpuDispatch, GpuCombine {
    private final LowLatencyCall call;

    GpuLowLatencyCall(LowLatencyCall call) {
        this.call = call;
    }

    LowLatencyCall call() {
        return call;
    }

    /**
     * Starts it.
     *
     * @return the number of its work in {@link GpuExpertBuffer#stream()}, to wait for by {@link GpuExpertBuffer#onReached}
     * @throws io.sluice.engine.SluiceException the buffer's error, if it has failed; or if the driver refuses it, with which the buffers
     *     of all ranks fail
     * @throws io.sluice.engine.TooManyPendingException if too much is under way in the stream. Nothing was started
     * @throws io.sluice.cuda.GpuClosedException if this or a region that it uses is closed. Nothing was started
     * @throws IllegalStateException if the result is closed; for a combine, if it was not dispatched or is combined already; or if a
     *     second half is still to be started
     */
    public final long start() {
        return call.start(true);
    }

    /**
     * Starts it as {@link #start} does, for calls that follow each other: its number counts as reached with that of a later one.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public final long startUnnumbered() {
        return call.start(false);
    }

    /**
     * Starts the first half: the sends. Work that follows in the stream may change what is sent: the inputs of a dispatch, or the results
     * of the experts.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public final long startSend() {
        return call.send(true);
    }

    /**
     * Starts the first half as {@link #startSend} does, but its number counts as reached with that of a later call.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public final long startSendUnnumbered() {
        return call.send(false);
    }

    /**
     * Starts the second half, also after {@link #close}. Until then later calls of the other ranks may wait for this one.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.TooManyPendingException if too much is under way in the stream; it may be started again
     * @throws io.sluice.engine.SluiceException the buffer's error, if it has failed; if the driver refuses it or the stream is closed, the
     *     buffers of all ranks have failed
     * @throws IllegalStateException if there is no first half, or this was started already
     */
    public final long startReceive() {
        return call.receive(true);
    }

    /**
     * Starts the second half as {@link #startReceive} does, but its number counts as reached with that of a later call.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #startReceive}
     * @throws IllegalStateException as for {@link #startReceive}
     */
    public final long startReceiveUnnumbered() {
        return call.receive(false);
    }

    /**
     * Returns a wait for the numbers of starts, as {@link GpuExpertBuffer#onReached} does.
     *
     * @param callback as there
     * @return the wait, not armed
     */
    public final SignalWait onReached(SignalCallback callback) {
        return call.core().onReached(callback);
    }

    /** Lets the regions go once what was started is done; those of a second half that is still to be started, after it. */
    void closeRegions() {
        call.closeRegions();
    }

    @Override
    public abstract void close();
}
