package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaKernels;
import io.sluice.jni.CudaModule;
import io.sluice.jni.CudaStream;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A stream of a program of the user's, with a gate that holds it up, and an event behind what it was given. */
final class UserStream implements AutoCloseable {
    private static final long READ_OFFSET = 8;

    private final long device;
    private final long module;
    private final long wait;
    private final long stream;
    private final PinnedMemory pinned;
    private final long event;

    UserStream(int ordinal) {
        device = CudaException.check(CudaDevice.open(ordinal), "no GPU");
        try (Arena arena = Arena.ofConfined()) {
            module = CudaException.check(
                    CudaModule.load(
                            device, arena.allocateFrom(CudaKernels.ptx()).address()),
                    "no kernels");
            wait = CudaException.check(
                    CudaModule.function(
                            module, arena.allocateFrom("sluice_wait").address()),
                    "no kernel that waits");
        }
        stream = CudaException.check(CudaStream.create(device, module, 0, 1), "no stream");
        pinned = new PinnedMemory(device, new GpuMetrics("the user's"), 2 * READ_OFFSET);
        event = CudaException.check(CudaStream.eventCreate(device), "no event");
        Patience.until("the stream has begun", this::isDone);
    }

    private void give(int operation, long destination, long source, long length, long destinations) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(CudaStream.REQUEST_BYTES, Long.BYTES);
            record.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_STREAM_OFFSET, stream);
            record.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, operation);
            record.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_COUNT_OFFSET, 1);
            record.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATION_OFFSET, destination);
            record.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_SOURCE_OFFSET, source);
            record.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_LENGTH_OFFSET, length);
            record.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATIONS_OFFSET, destinations);
            CudaException.check(CudaStream.submit(record.address(), 1), "the stream takes nothing");
        }
    }

    /** Later work of the stream waits until a word is not 0. */
    void await(long word) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocateFrom(ValueLayout.JAVA_LONG, word);
            MemorySegment arguments = arena.allocateFrom(ValueLayout.JAVA_LONG, value.address());
            give(CudaStream.LAUNCH, 0, wait, 1, arguments.address());
        }
    }

    /** Later work of the stream waits until {@link #open}. */
    void gate() {
        await(pinned.deviceAddress());
    }

    void open() {
        pinned.segment().set(ValueLayout.JAVA_LONG, 0, 1);
    }

    void fill(long address, long bytes, byte value) {
        give(CudaStream.FILL, address, 0, value, bytes);
    }

    /** Lets it read a word; {@link #word} gives it. */
    void read(long address) {
        give(CudaStream.COPY, pinned.deviceAddress() + READ_OFFSET, address, Long.BYTES, 0);
    }

    long word() {
        return pinned.segment().get(ValueLayout.JAVA_LONG, READ_OFFSET);
    }

    /** Records its event. */
    long record() {
        give(CudaStream.RECORD_EVENT, event, 0, 0, 0);
        return event;
    }

    boolean isDone() {
        int state = CudaStream.query(stream);
        if (state != CudaStream.NOT_READY) {
            CudaException.check(state, "the stream has failed");
        }
        return state == 0;
    }

    @Override
    public void close() {
        open();
        Patience.until("the stream is done", this::isDone);
        CudaStream.eventDestroy(device, event);
        CudaStream.destroy(stream);
        pinned.close();
        CudaModule.unload(module);
        CudaDevice.close(device);
    }
}
