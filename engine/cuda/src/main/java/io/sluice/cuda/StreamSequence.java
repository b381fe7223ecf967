package io.sluice.cuda;

import io.sluice.engine.TooManyPendingException;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Numbers the work given to a user's stream from 1 on: the stream stores a number in a word of pinned memory when it is through with that
 * work, or with a later one. One thread submits at a time; all else is for any thread.
 */
final class StreamSequence {
    /**
     * How many launches may be under way, each perhaps with a word: the driver makes a thread wait that fills a stream's queue, of about
     * 1,024 entries.
     */
    static final int MOST_LAUNCHES = GpuWork.MOST_LAUNCHES;

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long WORD_OFFSET = 0;
    private static final long END_OFFSET = 64;
    // more than can be under way
    private static final int NUMBERS = 1024;
    // who gives the stream something
    private static final int NONE = 0;
    private static final int SUBMITTER = 1;
    private static final int MARKER = 2;

    private final String gpu;
    private final long device;
    private final long stream;
    private final boolean isOwn;
    private final PinnedMemory pinned;
    private final Lifetime life;
    // one of those below
    private final AtomicInteger user = new AtomicInteger();
    private volatile long submitted;
    // the driver's error, negated, with which it failed for good; 0 if it has not
    private volatile int failure;

    // the user's: how many launches there were up to each of the last numbers
    private final long[] launchesUpTo = new long[NUMBERS];
    // and the last number that the stream stores
    private long lastStored;

    private StreamSequence(String gpu, long device, long stream, boolean isOwn, PinnedMemory pinned) {
        this.gpu = gpu;
        this.device = device;
        this.stream = stream;
        this.isOwn = isOwn;
        this.pinned = pinned;
        this.life = new Lifetime("a stream of " + gpu, this::isThrough, this::giveBack);
        MemorySegment end = pinned.segment();
        end.set(ValueLayout.JAVA_LONG, END_OFFSET + CudaStream.REQUEST_STREAM_OFFSET, stream);
        end.set(ValueLayout.JAVA_INT, END_OFFSET + CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.COMPLETE);
        end.set(ValueLayout.JAVA_LONG, END_OFFSET + CudaStream.REQUEST_WORD_OFFSET, wordAddress());
    }

    /** A new stream. */
    static StreamSequence open(String gpu, boolean isUrgent) {
        long device = UserDevice.open(gpu);
        return make(gpu, device, CudaStream.open(device, isUrgent ? 1 : 0), true);
    }

    /** One of the user's. */
    static StreamSequence adopt(String gpu, long handle) {
        long device = UserDevice.open(gpu);
        return make(gpu, device, CudaStream.adopt(device, handle), false);
    }

    private static StreamSequence make(String gpu, long device, long stream, boolean isOwn) {
        try {
            CudaException.check(stream, "cannot make a stream on " + gpu);
            // it is no engine's: no engine's figures have it
            PinnedMemory pinned = new PinnedMemory(device, new GpuMetrics(gpu), END_OFFSET + CudaStream.REQUEST_BYTES);
            return new StreamSequence(gpu, device, stream, isOwn, pinned);
        } catch (RuntimeException | Error e) {
            if (stream > 0) {
                CudaStream.destroy(stream);
            }
            CudaDevice.close(device);
            throw e;
        }
    }

    String gpu() {
        return gpu;
    }

    Lifetime life() {
        return life;
    }

    /** The driver's own handle. */
    long handle() {
        life.use();
        try {
            return CudaStream.handle(stream);
        } finally {
            life.release();
        }
    }

    /** Prepares a record of this stream, zeroed before. */
    void prepare(MemorySegment records, long at, int operation) {
        records.set(ValueLayout.JAVA_LONG, at + CudaStream.REQUEST_STREAM_OFFSET, stream);
        records.set(ValueLayout.JAVA_INT, at + CudaStream.REQUEST_OPERATION_OFFSET, operation);
    }

    private long wordAddress() {
        return pinned.deviceAddress() + WORD_OFFSET;
    }

    /** The number of what was given last; 0 at first. */
    long submitted() {
        return submitted;
    }

    /** The number of what it has done last. */
    long reached() {
        if (!life.retain()) {
            return submitted;
        }
        try {
            return word();
        } finally {
            life.release();
        }
    }

    /** Held. */
    MemorySegment pinned() {
        return pinned.segment();
    }

    private long word() {
        return (long) WORD.getAcquire(pinned.segment(), WORD_OFFSET);
    }

    /** The driver's error, negated, once it has failed; else 0. */
    int failure() {
        if (failure == 0 && life.retain()) {
            try {
                int state = CudaStream.query(stream);
                if (state < 0 && state != CudaStream.NOT_READY && state != CudaException.CAPTURED) {
                    failure = state;
                }
            } finally {
                life.release();
            }
        }
        return failure;
    }

    // ---- submitting ----

    /**
     * Gives it prepared records and returns their number.
     *
     * @param kernels how many launches they are
     * @param isStored whether the stream stores it behind the last; else it may, now and then
     */
    long submit(MemorySegment records, int count, int kernels, boolean isStored, List<StreamUses> used) {
        life.use();
        try {
            while (!user.compareAndSet(NONE, SUBMITTER)) {
                if (user.get() == SUBMITTER) {
                    throw new IllegalStateException("two threads submit to " + life.what() + " at the same time");
                }
                Thread.onSpinWait();
            }
            try {
                return give(records, count, kernels, isStored, used);
            } finally {
                user.set(NONE);
            }
        } finally {
            life.release();
        }
    }

    private long give(MemorySegment records, int count, int kernels, boolean isStored, List<StreamUses> used) {
        if (failure != 0) {
            throw new CudaException(life.what() + " has failed", failure);
        }
        // after `user` is set, which who closes one of them looks at afterwards
        for (int i = 0; i < used.size(); i++) {
            used.get(i).ensureOpen();
        }
        long before = submitted;
        long number = before + 1;
        long reached = word();
        long launches = launchesUpTo[slot(before)] + kernels;
        if (launches - launchesUpTo[slot(reached)] > MOST_LAUNCHES) {
            if (lastStored < before) {
                // so that it is reached, and there is room again
                end(before);
            }
            throw new TooManyPendingException(
                    "more than " + MOST_LAUNCHES + " launches are under way in " + life.what());
        }
        launchesUpTo[slot(number)] = launches;
        boolean stores = isStored || number - lastStored >= GpuWork.MOST_UNNUMBERED;
        long last = (count - 1L) * CudaStream.REQUEST_BYTES;
        records.set(ValueLayout.JAVA_LONG, last + CudaStream.REQUEST_WORD_OFFSET, stores ? wordAddress() : 0);
        records.set(ValueLayout.JAVA_LONG, last + CudaStream.REQUEST_VALUE_OFFSET, number);
        long storedBefore = lastStored;
        if (stores) {
            lastStored = number;
        }
        int done = 0;
        while (done < count) {
            int taken = CudaStream.submit(records.address() + (long) done * CudaStream.REQUEST_BYTES, count - done);
            if (taken == CudaException.CAPTURED && done == 0) {
                lastStored = storedBefore;
                throw new IllegalStateException(life.what()
                        + " is being captured into a graph, whose replays would store old numbers: make a GpuGraph");
            }
            if (taken < 1) {
                end(number);
                throw new CudaException(
                        "%s does not take launch %d of %d".formatted(life.what(), done + 1, count), taken);
            }
            done += taken;
        }
        submitted = number;
        return number;
    }

    private static int slot(long number) {
        return (int) (number % NUMBERS);
    }

    /** Has the stream store a number behind what it was given, also where that was refused in the middle; false while it is captured. */
    private boolean end(long number) {
        MemorySegment end = pinned.segment();
        end.set(ValueLayout.JAVA_LONG, END_OFFSET + CudaStream.REQUEST_VALUE_OFFSET, number);
        int taken = CudaStream.submit(end.address() + END_OFFSET, 1);
        if (taken == CudaException.CAPTURED) {
            return false;
        }
        if (taken < 1) {
            failure = taken;
        }
        submitted = number;
        lastStored = number;
        return true;
    }

    // ---- ending ----

    /** The number of what was given last, which the stream stores; −1 while a thread gives it more, or it is captured. */
    long mark() {
        if (!life.retain()) {
            return submitted;
        }
        try {
            if (!user.compareAndSet(NONE, MARKER)) {
                return -1;
            }
            try {
                long mark = submitted;
                return lastStored >= mark || end(mark) ? mark : -1;
            } finally {
                user.set(NONE);
            }
        } finally {
            life.release();
        }
    }

    /** Whether it is through with a number, or has failed and does nothing any more. */
    boolean isThrough(long number) {
        if (!life.retain()) {
            return true;
        }
        try {
            return word() >= number || CudaStream.query(stream) != CudaStream.NOT_READY;
        } finally {
            life.release();
        }
    }

    boolean isGone() {
        return life.released().isDone();
    }

    private boolean isThrough() {
        long mark = mark();
        failure();
        // the driver notices a little later than the word says that a stream is done; others use an adopted one
        return mark >= 0 && isThrough(mark) && (!isOwn || CudaStream.query(stream) != CudaStream.NOT_READY);
    }

    private void giveBack() {
        CudaStream.destroy(stream);
        pinned.close();
        CudaDevice.close(device);
    }
}
