package io.sluice.collectives.run;

import io.sluice.collectives.reduce.Reducer;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A reduction of two operands that helper threads carry out, in parts. One at a time, again and again; nothing is
 * allocated. The loop begins it and looks whether it has ended.
 */
final class Reduction {
    /** What is shorter is reduced by the loop sooner. */
    static final long SHORTEST = 64 << 10;

    private static final long ALIGNED = 64;

    private final HelperThreads helpers;
    private final Reducer reducer;
    private final Part[] parts;
    private final AtomicInteger left = new AtomicInteger();
    private volatile @Nullable RuntimeException error;
    private boolean begun;

    private int type;
    private int operation;
    private MemorySegment target = MemorySegment.NULL;
    private long targetAt;
    private MemorySegment first = MemorySegment.NULL;
    private long firstAt;
    private MemorySegment second = MemorySegment.NULL;
    private long secondAt;

    Reduction(HelperThreads helpers, Reducer reducer) {
        this.helpers = helpers;
        this.reducer = reducer;
        this.parts = new Part[helpers.count()];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = new Part();
        }
    }

    private final class Part implements Runnable {
        private long from;
        private long count;
        private int elementBytes;

        @Override
        public void run() {
            try {
                long at = from * elementBytes;
                reducer.reduce(
                        type, operation, target, targetAt + at, first, firstAt + at, second, secondAt + at, count);
            } catch (RuntimeException | Error e) {
                error = e instanceof RuntimeException thrown ? thrown : new IllegalStateException(e);
            }
            if (left.decrementAndGet() == 0) {
                helpers.reduced();
            }
        }
    }

    /** Says what the operands are, before {@link #begin}. */
    Reduction of(MemorySegment one, long oneAt, MemorySegment other, long otherAt) {
        first = one;
        firstAt = oneAt;
        second = other;
        secondAt = otherAt;
        return this;
    }

    /** Hands it to the helpers. What they do not take, this thread does. */
    void begin(int ofType, int by, MemorySegment to, long toAt, long elements, int elementBytes) {
        type = ofType;
        operation = by;
        target = to;
        targetAt = toAt;
        error = null;
        begun = true;
        long each = (elements / parts.length + ALIGNED) / ALIGNED * ALIGNED;
        left.set(parts.length);
        for (int i = 0; i < parts.length; i++) {
            Part part = parts[i];
            part.from = Math.min(elements, i * each);
            part.count = Math.min(elements, (i + 1) * each) - part.from;
            part.elementBytes = elementBytes;
            if (part.count == 0 || !helpers.execute(part)) {
                part.run();
            }
        }
    }

    boolean isBegun() {
        return begun;
    }

    /** Whether helpers may still access memory. */
    boolean isRunning() {
        return begun && left.get() > 0;
    }

    /** Whether it has been carried out, and not been ended. */
    boolean isDone() {
        return begun && left.get() == 0;
    }

    /** Ends one that is done; throws what a helper has thrown. */
    void end() {
        begun = false;
        RuntimeException thrown = error;
        if (thrown != null) {
            throw thrown;
        }
    }

    /** Waits until helpers access no memory any more, which takes microseconds; forgets it. */
    void abandon() {
        while (isRunning()) {
            Thread.onSpinWait();
        }
        begun = false;
    }
}
