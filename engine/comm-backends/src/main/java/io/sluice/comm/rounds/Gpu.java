package io.sluice.comm.rounds;

import io.sluice.experts.BackendUnavailableException;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaLibrary;
import io.sluice.jni.CudaMemory;
import io.sluice.jni.CudaStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The GPU of a rank: a stream of the back end's own, and pinned memory. The back end's thread alone uses it. */
public final class Gpu {
    /** Names the GPU of this process by its number; else it is the rank's, modulo the number of GPUs. */
    public static final String GPU_PROPERTY = "sluice.comm.gpu";

    private static final String GPU_VARIABLE = "SLUICE_COMM_GPU";
    private static final String LIBRARY_PROPERTY = "sluice.cuda.library";
    private static final int PAGE = 4096;
    private static final Logger LOG = LoggerFactory.getLogger(Gpu.class);

    private final Arena arena = Arena.ofShared();
    private final MemorySegment request = arena.allocate(CudaStream.REQUEST_BYTES, Long.BYTES);
    private final int ordinal;
    private final long device;
    private final long stream;
    private final MemorySegment pinned;
    private final long pinnedAddress;

    private Gpu(int ordinal, long pinnedBytes) {
        this.ordinal = ordinal;
        device = CudaDevice.open(ordinal);
        if (device < 0) {
            arena.close();
            throw failure("open GPU " + ordinal, device);
        }
        long bytes = (pinnedBytes + PAGE - 1) / PAGE * PAGE;
        pinned = arena.allocate(bytes, PAGE);
        long opened = CudaStream.open(device, 1);
        long registered = opened < 0 ? opened : CudaMemory.registerHost(device, pinned.address(), bytes);
        if (registered < 0) {
            if (opened >= 0) {
                CudaStream.destroy(opened);
            }
            CudaDevice.close(device);
            arena.close();
            throw failure("create a stream and pin " + bytes + " bytes", registered);
        }
        stream = opened;
        pinnedAddress = registered;
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_STREAM_OFFSET, stream);
    }

    /**
     * Opens the GPU of a rank.
     *
     * @param rank of the team
     * @param pinnedBytes how much pinned memory is needed
     * @return the GPU
     * @throws BackendUnavailableException if there is none, or it cannot be used
     */
    public static Gpu open(int rank, long pinnedBytes) {
        return new Gpu(ordinal(rank, count()), pinnedBytes);
    }

    /**
     * Opens a GPU by its number, not by the process's settings.
     *
     * @param ordinal the number that this process has for it, from 0 on
     * @param pinnedBytes how much pinned memory is needed
     * @return the GPU
     * @throws BackendUnavailableException if there is none, or it cannot be used
     */
    public static Gpu numbered(int ordinal, long pinnedBytes) {
        checkNumber(ordinal);
        return new Gpu(ordinal, pinnedBytes);
    }

    /**
     * Checks that this process sees a GPU, with no other effect than that the driver is loaded.
     *
     * @throws BackendUnavailableException if it sees none, or there is no driver; the message says what to do
     */
    public static void requireAny() {
        count();
    }

    /**
     * Returns the stable id of a GPU.
     *
     * @param ordinal the number that this process has for it, from 0 on
     * @return such as {@code GPU-8c7a1d2e-…}
     * @throws BackendUnavailableException if there is none
     */
    public static String id(int ordinal) {
        checkNumber(ordinal);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(CudaDevice.RECORD_BYTES, Long.BYTES);
            checked("describe the GPU", CudaDevice.query(ordinal, record.address()));
            ValueLayout.OfLong big = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
            long uuid = CudaDevice.RECORD_UUID_OFFSET;
            return "GPU-" + new UUID(record.get(big, uuid), record.get(big, uuid + Long.BYTES));
        }
    }

    private static void checkNumber(int ordinal) {
        int count = count();
        if (ordinal < 0 || ordinal >= count) {
            throw new BackendUnavailableException(
                    "there is no GPU " + ordinal + ": this process sees 0 to " + (count - 1));
        }
    }

    private static int count() {
        String refused = CudaLibrary.load(System.getProperty(LIBRARY_PROPERTY));
        if (refused != null) {
            throw new BackendUnavailableException(refused);
        }
        int count = CudaDevice.count();
        if (count < 1) {
            throw new BackendUnavailableException("this process sees no GPU; see CUDA_VISIBLE_DEVICES");
        }
        return count;
    }

    private static int ordinal(int rank, int count) {
        String variable = System.getenv(GPU_VARIABLE);
        String named = System.getProperty(GPU_PROPERTY, variable == null ? "" : variable)
                .strip();
        if (named.isEmpty()) {
            return rank % count;
        }
        try {
            int ordinal = Integer.parseInt(named);
            if (ordinal >= 0 && ordinal < count) {
                return ordinal;
            }
        } catch (NumberFormatException e) {
            LOG.debug("{} is no number", named, e);
        }
        throw new BackendUnavailableException(
                GPU_PROPERTY + " names the GPU '" + named + "'; this process sees 0 to " + (count - 1));
    }

    private static long checked(String what, long result) {
        if (result < 0) {
            throw failure(what, result);
        }
        return result;
    }

    private static BackendUnavailableException failure(String what, long error) {
        return new BackendUnavailableException("the driver could not " + what + ": " + CudaLibrary.errorText(error));
    }

    /** Makes its context that of the calling thread, until the thread ends. */
    public void makeCurrent() {
        checked("make the context current", CudaDevice.makeCurrent(device));
    }

    /**
     * Returns its number in this process.
     *
     * @return 0 or more
     */
    public int ordinal() {
        return ordinal;
    }

    /**
     * Returns its id.
     *
     * @return the 16 bytes of its UUID
     */
    public byte[] uuid() {
        MemorySegment record = arena.allocate(CudaDevice.RECORD_BYTES, Long.BYTES);
        checked("describe the GPU", CudaDevice.query(ordinal, record.address()));
        return record.asSlice(CudaDevice.RECORD_UUID_OFFSET, 16).toArray(ValueLayout.JAVA_BYTE);
    }

    /**
     * Returns the driver's handle of the stream.
     *
     * @return a {@code CUstream}
     */
    public MemorySegment stream() {
        return MemorySegment.ofAddress(checked("name the stream", CudaStream.handle(stream)));
    }

    /**
     * Returns the pinned memory as the host sees it.
     *
     * @return zero at first
     */
    public MemorySegment pinned() {
        return pinned;
    }

    /**
     * Returns the address at which GPUs see the pinned memory.
     *
     * @return its first byte's
     */
    public long pinnedAddress() {
        return pinnedAddress;
    }

    /**
     * Adds a copy to the stream.
     *
     * @param to an address of a GPU
     * @param from an address of a GPU
     * @param bytes at least 1
     */
    public void copy(long to, long from, long bytes) {
        request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.COPY);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATION_OFFSET, to);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_SOURCE_OFFSET, from);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_LENGTH_OFFSET, bytes);
        submit("copy " + bytes + " bytes");
    }

    /**
     * Adds zeros to the stream.
     *
     * @param to an address of the GPU
     * @param bytes at least 1
     */
    public void clear(long to, long bytes) {
        request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.FILL);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATION_OFFSET, to);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_LENGTH_OFFSET, 0);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATIONS_OFFSET, bytes);
        submit("clear " + bytes + " bytes");
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATIONS_OFFSET, 0);
    }

    /**
     * Has the stream store a word in the pinned memory once it is through with its earlier work.
     *
     * @param offset of the word in the pinned memory, a multiple of 8
     * @param value to store
     */
    public void store(long offset, long value) {
        request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.COMPLETE);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_WORD_OFFSET, pinnedAddress + offset);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_VALUE_OFFSET, value);
        submit("store a word");
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_WORD_OFFSET, 0);
    }

    private void submit(String what) {
        int accepted = CudaStream.submit(request.address(), 1);
        if (accepted != 1) {
            throw failure(what, accepted);
        }
    }

    /** Keeps the GPU's context for as long as the process runs: a library has memory in it. */
    public void keepContext() {
        checked("keep the context", CudaDevice.open(ordinal));
    }

    /**
     * Returns whether the stream has done all its work.
     *
     * @return true if so
     * @throws BackendUnavailableException if its work ended with an error
     */
    public boolean isIdle() {
        int state = CudaStream.query(stream);
        if (state != 0 && state != CudaStream.NOT_READY) {
            throw failure("do the stream's work", state);
        }
        return state == 0;
    }

    /**
     * Waits until the stream has nothing more to do, be it that its work has ended with an error.
     *
     * @param nanos how long at most
     * @return false if it still works: the GPU may read and write what its work names
     */
    public boolean awaitIdle(long nanos) {
        long begun = System.nanoTime();
        int state = CudaStream.query(stream);
        while (state == CudaStream.NOT_READY && System.nanoTime() - begun < nanos) {
            Pause.nanos(50_000);
            state = CudaStream.query(stream);
        }
        return state != CudaStream.NOT_READY;
    }

    /**
     * Gives everything back. Where the stream does not come to an end in time, nothing is: the GPU may write to the memory.
     *
     * @param nanos how long the stream may take
     */
    public void close(long nanos) {
        if (!awaitIdle(nanos)) {
            LOG.warn("GPU {} does not end its work: its pinned memory and its stream are kept", ordinal);
            return;
        }
        boolean isUnpinned = hasDone("unpin memory", CudaMemory.unregisterHost(device, pinned.address()));
        hasDone("destroy the stream", CudaStream.destroy(stream));
        hasDone("close the GPU", CudaDevice.close(device));
        if (isUnpinned) {
            arena.close();
        }
    }

    private boolean hasDone(String what, int result) {
        if (result < 0) {
            LOG.warn("GPU {}: the driver could not {}: {}", ordinal, what, CudaLibrary.errorText(result));
        }
        return result >= 0;
    }
}
