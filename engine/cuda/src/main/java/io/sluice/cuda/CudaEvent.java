package io.sluice.cuda;

import io.sluice.engine.StreamEvent;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaStream;
import java.util.concurrent.locks.LockSupport;

/**
 * An event of CUDA after which a transfer starts, such as one recorded behind the kernel that fills the transfer's source. Where a GPU
 * carries the transfer, its stream waits, and the host takes no part; the event must have been recorded by then, else it counts as
 * having happened. A GPU cannot be stopped: a transfer that is cancelled while it waits is quiescent once the event has happened, and
 * an event that does not happen within the liveness time-out ends the connection. Elsewhere a virtual thread looks at the event from
 * time to time. Immutable, any thread.
 *
 * <p>Register the memory and attach before a kernel runs that an event waits for: some drivers load or pin nothing meanwhile. Set {@code
 * CUDA_DEVICE_MAX_CONNECTIONS=32} before the driver is loaded: by default all streams share 8 queues, and a stream that waits holds up
 * those that share its queue.
 */
public final class CudaEvent implements StreamEvent {
    private static final long SHORTEST_NANOS = 20_000;
    private static final long LONGEST_NANOS = 1_000_000;

    private final String gpu;
    private final int ordinal;
    private final long handle;

    private CudaEvent(String gpu, int ordinal, long handle) {
        this.gpu = gpu;
        this.ordinal = ordinal;
        this.handle = handle;
    }

    /**
     * Describes an event, which stays the caller's.
     *
     * @param gpu the stable id of the GPU that it was made on, such as {@code GPU-8c7a1d2e-…}
     * @param handle the {@code CUevent} or {@code cudaEvent_t} of this process's primary context; destroyed only after the transfers
     *     that start after it have ended and are quiescent
     * @return the event
     * @throws IllegalArgumentException if this process does not see the GPU, or the handle is 0
     */
    public static CudaEvent of(String gpu, long handle) {
        int ordinal = Driver.ordinal(gpu);
        if (ordinal < 0 || handle == 0) {
            throw new IllegalArgumentException(
                    handle == 0 ? "0 is no event" : "this process sees no GPU " + gpu + ", or has no CUDA driver");
        }
        return new CudaEvent(gpu, ordinal, handle);
    }

    @Override
    public long handle() {
        return handle;
    }

    @Override
    public String device() {
        return gpu;
    }

    @Override
    public void whenHappened(Listener listener) {
        Thread.ofVirtual().name("sluice-cuda-event").start(() -> {
            Throwable error = null;
            try {
                await(listener);
            } catch (CudaException e) {
                error = e;
            }
            listener.happened(error);
        });
    }

    /** Returns once it has happened, or is not awaited any more: then its owner may have destroyed it. */
    private void await(Listener listener) {
        long device = CudaException.check(CudaDevice.open(ordinal), "cannot open " + gpu);
        try {
            long nap = SHORTEST_NANOS;
            Look look = new Look(device);
            while (listener.look(look) && look.state == CudaStream.NOT_READY) {
                LockSupport.parkNanos(nap);
                nap = Math.min(2 * nap, LONGEST_NANOS);
            }
            if (look.state != CudaStream.NOT_READY) {
                CudaException.check(look.state, "an event of " + gpu + " will not happen");
            }
        } finally {
            CudaDevice.close(device);
        }
    }

    /** Asks the driver whether it has happened. */
    private final class Look implements Runnable {
        private final long device;
        private int state = CudaStream.NOT_READY;

        Look(long device) {
            this.device = device;
        }

        @Override
        public void run() {
            state = CudaStream.eventQuery(device, handle);
        }
    }
}
