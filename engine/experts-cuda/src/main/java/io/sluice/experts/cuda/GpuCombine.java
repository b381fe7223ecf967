package io.sluice.experts.cuda;

/**
 * A low-latency combine that was checked and prepared, and is started once for each dispatch of its handle. One thread of a buffer starts
 * calls at a time, and all ranks start the same ones in the same order. Starting allocates nothing and waits for nothing, so that a
 * poller may do it.
 */
public final class GpuCombine implements AutoCloseable {
    private final LowLatencyCalls calls;
    private final LowLatencyResultMemory result;
    private final PreparedCall call;

    GpuCombine(LowLatencyCalls calls, LowLatencyResultMemory result, PreparedCall call) {
        this.calls = calls;
        this.result = result;
        this.call = call;
    }

    /**
     * Starts it.
     *
     * @return the number of its work in {@link GpuExpertBuffer#stream()}, to wait for by {@link GpuExpertBuffer#onReached}
     * @throws io.sluice.engine.SluiceException the buffer's error, if it has failed; or if the driver refuses it
     * @throws IllegalStateException if the handle is closed, was not dispatched or is combined already, or a second half is still to be
     *     started
     */
    public long start() {
        return calls.startCombine(result, call, true);
    }

    /**
     * Starts it as {@link #start} does, for calls that follow each other: its number counts as reached with that of a later one.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startUnnumbered() {
        return calls.startCombine(result, call, false);
    }

    /**
     * Starts the first half: the sends. Work that follows in the stream may change the results of the experts.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startSend() {
        return calls.sendCombine(result, call, true);
    }

    /**
     * Starts the first half as {@link #startSend} does, but its number counts as reached with that of a later call.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startSendUnnumbered() {
        return calls.sendCombine(result, call, false);
    }

    /**
     * Starts the second half. Until then later calls of the other ranks may wait for this one.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException if there is no first half, or this was started already
     */
    public long startReceive() {
        return calls.receive(result, call, false, true);
    }

    /**
     * Starts the second half as {@link #startReceive} does, but its number counts as reached with that of a later call.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #startReceive}
     */
    public long startReceiveUnnumbered() {
        return calls.receive(result, call, false, false);
    }

    /** Lets inputs and output go once what was started is done. The handle stays as it is. */
    @Override
    public void close() {
        call.close();
    }
}
