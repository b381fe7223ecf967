package io.sluice.cuda;

import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.jni.CudaLibrary;
import io.sluice.jni.CudaStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Words and bytes of a GPU's memory as threads of the host see them, over a stream of their own with the greatest priority: a copy
 * engine reads and stores, which does not wait for kernels, and a kernel adds and swaps, atomically towards all GPUs that have native
 * atomics over their links. Any thread; the calls follow each other. A GPU that does not answer fails this and all calls
 * until it does.
 */
final class GpuWords {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long REACHED_OFFSET = 96;
    private static final long CELL_OFFSET = 104;
    private static final long BYTES_OFFSET = 128;
    private static final long SPIN_NANOS = 50_000;
    private static final long LOOK_NANOS = 20_000;
    private static final long LONGEST_NANOS = 2_000_000_000L;

    private final WordLock lock = new WordLock();
    private final String id;
    private final long stream;
    private final PinnedMemory pinned;
    private final MemorySegment memory;
    private long sequence;
    private boolean ended;

    /** On a thread that may block. */
    GpuWords(Gpu gpu) {
        this.id = gpu.id();
        this.stream = gpu.newUrgentStream();
        try {
            this.pinned = new PinnedMemory(gpu.device(), gpu.metrics(), BYTES_OFFSET + MemoryChecksum.PIECE_BYTES);
        } catch (RuntimeException | Error e) {
            CudaStream.destroy(stream);
            throw e;
        }
        this.memory = pinned.segment();
    }

    long load(long address) {
        return call(CudaStream.COPY, pinned.deviceAddress() + CELL_OFFSET, address, Long.BYTES, 0, 0);
    }

    void store(long address, long value) {
        call(CudaStream.COPY, address, pinned.deviceAddress() + CELL_OFFSET, Long.BYTES, 0, value);
    }

    long fetchAdd(long address, long addend) {
        return call(CudaStream.FETCH_ADD, address, pinned.deviceAddress() + CELL_OFFSET, addend, 0, 0);
    }

    long compareAndSwap(long address, long expected, long replacement) {
        return call(
                CudaStream.COMPARE_AND_SWAP, address, pinned.deviceAddress() + CELL_OFFSET, replacement, expected, 0);
    }

    /** Returns the cell after an operation, for which it had a value. */
    private long call(int operation, long destination, long source, long length, long expected, long cell) {
        lock.lock();
        try {
            begin(operation, destination, source, length, expected);
            memory.set(ValueLayout.JAVA_LONG, CELL_OFFSET, cell);
            run();
            return memory.get(ValueLayout.JAVA_LONG, CELL_OFFSET);
        } finally {
            lock.unlock();
        }
    }

    void copyOut(long address, MemorySegment to) {
        lock.lock();
        try {
            begin(CudaStream.COPY, pinned.deviceAddress() + BYTES_OFFSET, address, to.byteSize(), 0);
            run();
            MemorySegment.copy(memory, BYTES_OFFSET, to, 0, to.byteSize());
        } finally {
            lock.unlock();
        }
    }

    /** The record and the cell are free: what was given before is done. */
    private void begin(int operation, long destination, long source, long length, long expected) {
        if (ended) {
            throw new IllegalStateException("the engine is closed: it does not reach memory of " + id + " any more");
        }
        if (reached() != sequence) {
            throw silent();
        }
        memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_STREAM_OFFSET, stream);
        memory.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, operation);
        memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATION_OFFSET, destination);
        memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_SOURCE_OFFSET, source);
        memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_LENGTH_OFFSET, length);
        memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATIONS_OFFSET, expected);
        memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_WORD_OFFSET, pinned.deviceAddress() + REACHED_OFFSET);
        memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_VALUE_OFFSET, sequence + 1);
    }

    private void run() {
        int taken = CudaStream.submit(memory.address(), 1);
        if (taken < 1) {
            throw failed(taken);
        }
        sequence++;
        long began = System.nanoTime();
        while (reached() != sequence) {
            long waited = System.nanoTime() - began;
            if (waited < SPIN_NANOS) {
                Thread.onSpinWait();
                continue;
            }
            int state = CudaStream.query(stream);
            if (state != CudaStream.NOT_READY && state < 0) {
                throw failed(state);
            }
            if (waited > LONGEST_NANOS) {
                throw silent();
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    private long reached() {
        return (long) WORD.getAcquire(memory, REACHED_OFFSET);
    }

    private IllegalStateException failed(int error) {
        return new IllegalStateException(id + " does not reach its memory: " + CudaLibrary.errorText(error));
    }

    private IllegalStateException silent() {
        return new IllegalStateException(
                id + " does not answer: does a kernel occupy it? The last operation may still take effect");
    }

    /** Whether nothing is under way of what it was told: the memory that this was for may be freed. */
    boolean isIdle() {
        lock.lock();
        try {
            return ended || reached() == sequence || CudaStream.query(stream) != CudaStream.NOT_READY;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Further calls fail; false if the GPU may still write to the pinned memory, which stays. Blocks, for as long as any kernel of this
     * process runs on the GPU.
     */
    boolean end() {
        lock.lock();
        try {
            if (!ReleaseThread.await(() -> !isAtWork())) {
                return false;
            }
            ended = true;
            CudaStream.destroy(stream);
            pinned.close();
            return true;
        } finally {
            lock.unlock();
        }
    }

    private boolean isAtWork() {
        // the driver notices a little later that a stream is done
        return (sequence == 0 || reached() != sequence) && CudaStream.query(stream) == CudaStream.NOT_READY;
    }
}
