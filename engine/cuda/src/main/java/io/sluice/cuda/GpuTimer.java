package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Measures by the driver's events how long a {@link GpuStream} takes from one place to another, to about half a microsecond:
 *
 * <pre>{@code
 * timer.begin();
 * work.submitUnnumbered();
 * long number = timer.end();
 * // when the stream has reached it
 * long nanos = timer.nanos();
 * }</pre>
 *
 * <p>Begin and end allocate nothing; they count as works of the stream, and one thread of a stream submits at a time.
 */
public final class GpuTimer implements AutoCloseable {
    private final StreamSequence stream;
    private final long device;
    private final long first;
    private final long last;
    private final MemorySegment beginning = Arena.ofAuto().allocate(CudaStream.REQUEST_BYTES, Long.BYTES);
    private final MemorySegment ending = Arena.ofAuto().allocate(CudaStream.REQUEST_BYTES, Long.BYTES);
    private final StreamUses uses;
    private final List<StreamUses> used;

    private GpuTimer(StreamSequence stream, long device, long first, long last) {
        this.stream = stream;
        this.device = device;
        this.first = first;
        this.last = last;
        uses = new StreamUses("a timer of " + stream.gpu(), () -> {
            CudaStream.eventDestroy(device, first);
            CudaStream.eventDestroy(device, last);
            CudaDevice.close(device);
        });
        uses.usedOn(stream);
        used = List.of(uses);
        prepare(beginning, first);
        prepare(ending, last);
    }

    private void prepare(MemorySegment record, long event) {
        stream.prepare(record, 0, CudaStream.RECORD_EVENT);
        record.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATION_OFFSET, event);
    }

    static GpuTimer of(StreamSequence stream) {
        stream.life().use();
        try {
            long device = UserDevice.open(stream.gpu());
            long first = 0;
            try {
                first = CudaException.check(
                        CudaStream.eventCreateTimed(device), "cannot make an event of " + stream.gpu());
                long last = CudaException.check(
                        CudaStream.eventCreateTimed(device), "cannot make an event of " + stream.gpu());
                return new GpuTimer(stream, device, first, last);
            } catch (RuntimeException | Error e) {
                if (first > 0) {
                    CudaStream.eventDestroy(device, first);
                }
                CudaDevice.close(device);
                throw e;
            }
        } finally {
            stream.life().release();
        }
    }

    /**
     * Has the stream take the time behind what it was given.
     *
     * @return the number in the stream, not stored for itself: see {@link GpuWork#submitUnnumbered}
     * @throws GpuClosedException if this or the stream is closed
     * @throws io.sluice.engine.TooManyPendingException as for {@link GpuWork#submit}
     * @throws CudaException if the driver refuses it
     * @throws IllegalStateException if two threads submit work of one stream at the same time
     */
    public long begin() {
        return take(beginning, false);
    }

    /**
     * Has the stream take the time again.
     *
     * @return the number in the stream, to wait for by {@link GpuStream#onReached}
     * @throws GpuClosedException as for {@link #begin}
     * @throws io.sluice.engine.TooManyPendingException as for {@link #begin}
     * @throws CudaException as for {@link #begin}
     * @throws IllegalStateException as for {@link #begin}
     */
    public long end() {
        return take(ending, true);
    }

    private long take(MemorySegment record, boolean isNumbered) {
        try {
            return stream.submit(record, 1, 1, isNumbered, used);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the time from the last begin to the last end.
     *
     * @return nanoseconds
     * @throws IllegalStateException if the stream has not reached the end, or the two were not called
     * @throws GpuClosedException if this is closed
     * @throws CudaException if the GPU has failed
     */
    public long nanos() {
        uses.life().use();
        try {
            long nanos = CudaStream.eventElapsed(device, first, last);
            if (nanos == CudaStream.NOT_READY || nanos == CudaException.INVALID_HANDLE) {
                throw new IllegalStateException(uses.life().what() + " has not come to its end");
            }
            return CudaException.check(nanos, "cannot read " + uses.life().what());
        } finally {
            uses.life().release();
        }
    }

    /** Refuses further use, and gives the events back once the stream is through with them; returns before that. */
    @Override
    public void close() {
        uses.close();
    }

    /**
     * Returns when the events are given back.
     *
     * @return completes after {@link #close}
     */
    public CompletableFuture<Void> released() {
        return uses.released();
    }
}
