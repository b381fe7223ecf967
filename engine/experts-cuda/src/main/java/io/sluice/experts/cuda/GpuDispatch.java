package io.sluice.experts.cuda;

import io.sluice.experts.LowLatencyResult;

/**
 * A low-latency dispatch that was checked and prepared, and is started again and again: each time its result has what is in the inputs
 * when the GPU comes to it. One thread of a buffer starts calls at a time, and all ranks start the same ones in the same order. Starting
 * allocates nothing and waits for nothing, so that a poller may do it.
 */
public final class GpuDispatch implements AutoCloseable {
    private final LowLatencyCalls calls;
    private final LowLatencyResultMemory result;
    private final PreparedCall call;

    GpuDispatch(LowLatencyCalls calls, LowLatencyResultMemory result, PreparedCall call) {
        this.calls = calls;
        this.result = result;
        this.call = call;
    }

    /**
     * Starts it.
     *
     * @return the number of its work in {@link GpuExpertBuffer#stream()}, to wait for by {@link GpuExpertBuffer#onReached}
     * @throws io.sluice.engine.SluiceException the buffer's error, if it has failed; or if the driver refuses it
     * @throws IllegalStateException if the result is closed, or a second half is still to be started
     */
    public long start() {
        return calls.startDispatch(result, call, true);
    }

    /**
     * Starts it as {@link #start} does, for calls that follow each other: its number counts as reached with that of a later one.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startUnnumbered() {
        return calls.startDispatch(result, call, false);
    }

    /**
     * Starts the first half: the sends. Work that follows in the stream may change the inputs.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startSend() {
        return calls.sendDispatch(result, call, true);
    }

    /**
     * Starts the first half as {@link #startSend} does, but its number counts as reached with that of a later call.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startSendUnnumbered() {
        return calls.sendDispatch(result, call, false);
    }

    /**
     * Starts the second half. Until then later calls of the other ranks may wait for this one.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException if there is no first half, or this was started already
     */
    public long startReceive() {
        return calls.receive(result, call, true, true);
    }

    /**
     * Starts the second half as {@link #startReceive} does, but its number counts as reached with that of a later call.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #startReceive}
     */
    public long startReceiveUnnumbered() {
        return calls.receive(result, call, true, false);
    }

    /**
     * Returns what the dispatch brings, and the handle of its combine.
     *
     * @return always the same object
     */
    public LowLatencyResult result() {
        return result;
    }

    void closeInputs() {
        call.close();
    }

    /** Closes the result, and lets the inputs go once what was started is done. */
    @Override
    public void close() {
        call.close();
        result.close();
    }
}
