package io.sluice.experts.sluice;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PageCallback;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferOptions;
import io.sluice.experts.backend.CommCallback;
import io.sluice.experts.backend.PutBatch;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Pieces as lists of pages. A prepared list has a fixed number of pages unless an array of another length is made, so there
 * is a list for each power of two, and a batch starts those that add up to its number.
 */
final class SluiceBatch implements PutBatch {
    private static final int FIRST_CAPACITY = 16;

    private final MemoryRegion source;
    private final RemoteRegion target;
    private final long pieceBytes;
    private final @Nullable Pages[] lists = new Pages[Integer.SIZE - 1];
    private long[] sourceOffsets = new long[FIRST_CAPACITY];
    private long[] targetOffsets = new long[FIRST_CAPACITY];
    private int size;
    private int running;
    private @Nullable CommCallback callback;
    private @Nullable SluiceException firstError;

    SluiceBatch(MemoryRegion source, RemoteRegion target, long pieceBytes) {
        this.source = source;
        this.target = target;
        this.pieceBytes = pieceBytes;
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
        Objects.checkFromIndexSize(sourceOffset, pieceBytes, source.length());
        Objects.checkFromIndexSize(targetOffset, pieceBytes, target.length());
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
        // a list may end inside its start
        running = 1;
        try {
            for (int first = 0; first < size; ) {
                int log = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(size - first);
                start(log, first);
                first += 1 << log;
            }
        } catch (SluiceException e) {
            // lists that have started end as well
            firstError = e;
        }
        ended();
    }

    private void start(int log, int first) {
        int pages = 1 << log;
        Pages list = lists[log];
        if (list == null) {
            list = new Pages(pages);
            lists[log] = list;
        }
        System.arraycopy(sourceOffsets, first, list.locals, 0, pages);
        System.arraycopy(targetOffsets, first, list.remotes, 0, pages);
        PreparedTransfer transfer = list.transfer;
        if (transfer == null) {
            transfer = target.connection()
                    .prepared()
                    .writePages(
                            source, list.locals, target, list.remotes, pieceBytes, TransferOptions.defaults(), list);
            list.transfer = transfer;
        } else {
            transfer.retargetPages(list.locals, list.remotes);
        }
        running++;
        try {
            transfer.start();
        } catch (RuntimeException e) {
            running--;
            throw e;
        }
    }

    private void ended() {
        running--;
        CommCallback told = callback;
        if (running == 0 && told != null) {
            callback = null;
            told.ended(firstError);
        }
    }

    /** A list of pages of a fixed number. */
    private final class Pages implements PageCallback {
        final long[] locals;
        final long[] remotes;

        @Nullable
        PreparedTransfer transfer;

        Pages(int pages) {
            locals = new long[pages];
            remotes = new long[pages];
        }

        @Override
        public void terminated(Transfer transferred, BitSet failed, @Nullable SluiceException error) {
            if (error != null && firstError == null) {
                firstError =
                        error instanceof PagesFailedException some && some.getCause() instanceof SluiceException why
                                ? why
                                : error;
            }
            ended();
        }
    }
}
