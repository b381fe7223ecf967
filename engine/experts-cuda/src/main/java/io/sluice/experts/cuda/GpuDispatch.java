package io.sluice.experts.cuda;

import io.sluice.experts.LowLatencyResult;

/**
 * A low-latency dispatch that was checked and prepared, and is started again and again: each time its result has what is in the inputs
 * when the GPU comes to it. One thread of a buffer starts calls at a time, and all ranks start the same ones in the same order. Starting
 * allocates nothing and waits for nothing, so that a poller may do it.
 */
public final class GpuDispatch implements AutoCloseable {
    private final LowLatencyCall call;

    GpuDispatch(LowLatencyCall call) {
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
        return call.start(true);
    }

    /**
     * Starts it as {@link #start} does, for calls that follow each other: its number counts as reached with that of a later one.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startUnnumbered() {
        return call.start(false);
    }

    /**
     * Starts the first half: the sends. Work that follows in the stream may change the inputs.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startSend() {
        return call.send(true);
    }

    /**
     * Starts the first half as {@link #startSend} does, but its number counts as reached with that of a later call.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startSendUnnumbered() {
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
    public long startReceive() {
        return call.receive(true);
    }

    /**
     * Starts the second half as {@link #startReceive} does, but its number counts as reached with that of a later call.
     *
     * @return the number of its work in the stream
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #startReceive}
     */
    public long startReceiveUnnumbered() {
        return call.receive(false);
    }

    /**
     * Returns what the dispatch brings, and the handle of its combine.
     *
     * @return always the same object
     */
    public LowLatencyResult result() {
        return call.result();
    }

    void closeInputs() {
        call.closeRegions();
    }

    /**
     * Closes the result, and lets the regions go once what was started is done. After a first half this takes effect when the second was
     * started. A second close does nothing.
     */
    @Override
    public void close() {
        call.closeRegions();
        call.result().close();
    }
}
