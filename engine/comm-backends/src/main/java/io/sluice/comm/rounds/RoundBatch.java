package io.sluice.comm.rounds;

import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.PutBatch;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Pieces, each a put. */
final class RoundBatch implements PutBatch, CommCallback {
    private static final int FIRST_CAPACITY = 16;

    private final Puts puts;
    private final HostMemory source;
    private final RoundMemory target;
    private final long pieceBytes;
    private final int rank;
    private long[] sourceOffsets = new long[FIRST_CAPACITY];
    private long[] targetOffsets = new long[FIRST_CAPACITY];
    private int size;
    private int running;
    private @Nullable CommCallback callback;
    private @Nullable SluiceException firstError;

    RoundBatch(Puts puts, HostMemory source, RoundMemory target, long pieceBytes, int rank) {
        this.puts = puts;
        this.source = source;
        this.target = target;
        this.pieceBytes = pieceBytes;
        this.rank = rank;
    }

    private void checkIdle() {
        if (running > 0) {
            throw new IllegalStateException("the batch is under way");
        }
    }

    @Override
    public void clear() {
        checkIdle();
        size = 0;
    }

    @Override
    public void add(long sourceOffset, long targetOffset) {
        checkIdle();
        Objects.checkFromIndexSize(sourceOffset, pieceBytes, source.bytes());
        Objects.checkFromIndexSize(targetOffset, pieceBytes, target.bytes());
        if (size == sourceOffsets.length) {
            sourceOffsets = Arrays.copyOf(sourceOffsets, 2 * size);
            targetOffsets = Arrays.copyOf(targetOffsets, 2 * size);
        }
        sourceOffsets[size] = sourceOffset;
        targetOffsets[size] = targetOffset;
        size++;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public void start(CommCallback whenEnded) {
        checkIdle();
        callback = whenEnded;
        firstError = null;
        running = 1;
        try {
            for (int i = 0; i < size; i++) {
                puts.put(
                        source,
                        sourceOffsets[i],
                        target,
                        targetOffsets[i],
                        pieceBytes,
                        RoundOperation.NO_SIGNAL,
                        0,
                        rank,
                        this);
                running++;
            }
        } catch (SluiceException e) {
            // those that were taken end as well
            firstError = e;
        }
        ended(null);
    }

    @Override
    public void ended(@Nullable SluiceException error) {
        running--;
        if (error != null && firstError == null) {
            firstError = error;
        }
        CommCallback told = callback;
        if (running == 0 && told != null) {
            callback = null;
            told.ended(firstError);
        }
    }
}
