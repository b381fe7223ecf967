package io.sluice.cuda;

import io.sluice.engine.EngineLoop;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A reusable wait for a word that a GPU stores in pinned memory. Nothing wakes the loop for it: a source looks at it as long as the wait
 * is armed, less often the longer that takes. Its state is the number of armings and the phase, so that a look that saw one arming never
 * ends the next.
 */
final class WordWait implements SignalWait, EngineLoop.Source {
    private static final Logger LOG = LoggerFactory.getLogger(WordWait.class);
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long ARMING = 1;
    private static final long ARMED = 2;
    private static final long PHASES = 3;
    private static final long ONE_ARMING = PHASES + 1;

    // a look that finds nothing soon after the arming takes all of it, and is followed by another
    private static final int BUDGET = 2;
    private static final int CALLED = 1;
    private static final long SPIN_NANOS = 250_000;
    private static final long SHORTEST_PAUSE_NANOS = 20_000;
    private static final long LONGEST_PAUSE_NANOS = 1_000_000;
    private static final int PARTS_OF_WAIT = 16;
    // the driver is asked at most as often whether the GPU has failed
    private static final long INQUIRY_NANOS = 1_000_000;

    private final Lifetime life;
    private final MemorySegment memory;
    private final long offset;
    private final StreamSequence writer;
    private final boolean isOfStream;
    private final SignalCallback callback;
    private final AtomicLong state = new AtomicLong();
    private final EngineLoop.SourceHandle source;
    private volatile long atLeast;
    private volatile long armedAt;
    private volatile boolean closed;
    private volatile @Nullable SluiceException ended;

    // the loop's
    private long inquiredAt;

    private WordWait(
            Lifetime life,
            MemorySegment memory,
            long offset,
            StreamSequence writer,
            boolean isOfStream,
            EngineLoop loop,
            SignalCallback callback) {
        this.life = life;
        this.memory = memory;
        this.offset = offset;
        this.writer = writer;
        this.isOfStream = isOfStream;
        this.callback = callback;
        this.source = loop.addSource(this, BUDGET);
    }

    static WordWait ofStream(StreamSequence stream, EngineLoop loop, SignalCallback callback) {
        stream.life().use();
        try {
            return new WordWait(stream.life(), stream.pinned(), 0, stream, true, loop, callback);
        } finally {
            stream.life().release();
        }
    }

    static WordWait ofBuffer(
            PinnedBuffer buffer, long offset, StreamSequence writer, EngineLoop loop, SignalCallback callback) {
        return new WordWait(buffer.uses().life(), buffer.segment(), offset, writer, false, loop, callback);
    }

    // ---- any thread ----

    private static long phase(long state) {
        return state & PHASES;
    }

    @Override
    public void arm(long value) {
        long idle = state.get();
        if (closed || phase(idle) != 0 || !state.compareAndSet(idle, idle + ARMING)) {
            throw new IllegalStateException(closed ? "the wait is closed" : "the wait is armed already");
        }
        atLeast = value;
        armedAt = System.nanoTime();
        state.set(idle + ONE_ARMING + ARMED);
        source.signal();
        SluiceException why = ended;
        if (why != null) {
            // the loop does not look any more
            end(state.get(), 0, why);
        }
    }

    @Override
    public boolean disarm() {
        long armed = state.get();
        return phase(armed) == ARMED && state.compareAndSet(armed, armed - ARMED);
    }

    @Override
    public void close() {
        closed = true;
        disarm();
        source.close();
    }

    private boolean end(long armed, long value, @Nullable SluiceException error) {
        boolean isMine = phase(armed) == ARMED && state.compareAndSet(armed, armed - ARMED);
        if (isMine) {
            try {
                callback.reached(this, value, error);
            } catch (RuntimeException e) {
                LOG.error("a callback of {} threw an exception", this, e);
            }
        }
        return isMine;
    }

    // ---- the loop ----

    @Override
    public int poll(int budget) {
        long armed = state.get();
        if (phase(armed) != ARMED) {
            return 0;
        }
        long least = atLeast;
        long value;
        SluiceException error = null;
        if (life.retain()) {
            try {
                value = word();
                if (value < least) {
                    error = inquire();
                    // what it has done before it failed counts
                    value = word();
                }
            } finally {
                life.release();
            }
        } else {
            value = isOfStream && writer.failure() == 0 ? writer.submitted() : Long.MIN_VALUE;
            error = writer.failure() == 0 ? new GpuClosedException(life.what()) : failed(writer.failure());
        }
        if (value >= least) {
            return end(armed, value, null) ? CALLED : budget;
        }
        if (error != null) {
            return end(armed, 0, error) ? CALLED : budget;
        }
        long now = System.nanoTime();
        long waited = now - armedAt;
        if (waited < SPIN_NANOS) {
            return budget;
        }
        source.signalAt(now + Math.clamp(waited / PARTS_OF_WAIT, SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS));
        return 0;
    }

    private long word() {
        return (long) WORD.getAcquire(memory, offset);
    }

    private @Nullable SluiceException inquire() {
        long now = System.nanoTime();
        if (now - armedAt < INQUIRY_NANOS || now - inquiredAt < INQUIRY_NANOS) {
            return null;
        }
        inquiredAt = now;
        int failure = writer.failure();
        return failure == 0 ? null : failed(failure);
    }

    private CudaException failed(int error) {
        return new CudaException(writer.life().what() + " has failed", error);
    }

    @Override
    public void removed(@Nullable Throwable cause) {
        if (cause != null) {
            SluiceException why =
                    cause instanceof SluiceException known ? known : new SluiceException("the wait has ended", cause);
            ended = why;
            end(state.get(), 0, why);
        }
    }

    @Override
    public String toString() {
        return "a wait for " + life.what();
    }
}
