package io.sluice.experts;

import org.jspecify.annotations.Nullable;

/**
 * Work on the rows of a call, in slices that do not hold the loop up: by the loop, or by it and helper threads. The
 * loop's.
 */
final class SlicedWork {
    // takes C some microseconds
    private static final int SLICE_BYTES = 64 << 10;

    private final @Nullable HelperThreads helpers;
    private final HelperThreads.Rows work;
    private int total;
    private int done;
    private long rowBytes = 1;
    private boolean helped;

    SlicedWork(@Nullable HelperThreads helpers, HelperThreads.Rows work) {
        this.helpers = helpers;
        this.work = work;
    }

    /**
     * Says how many rows there are, of which none is done.
     *
     * @param bytesOfRow about what a row moves
     */
    void begin(int rows, long bytesOfRow) {
        total = rows;
        done = 0;
        rowBytes = bytesOfRow;
        helped = false;
    }

    boolean isDone() {
        return done == total;
    }

    /**
     * Does a share.
     *
     * @return about how many bytes this thread has moved; less than the budget if helper threads do what is left
     */
    int advance(int budget) {
        HelperThreads threads = helpers;
        int share = (int) Math.max(1, SLICE_BYTES / rowBytes);
        if (threads != null && !helped && done == 0 && total > share) {
            helped = threads.begin(work, total, share);
        }
        return threads != null && helped ? takePart(threads, budget) : alone(share, budget);
    }

    private int alone(int share, int budget) {
        long used = 0;
        while (done < total && used < budget) {
            int count = Math.min(share, total - done);
            work.run(done, count);
            done += count;
            used += count * rowBytes;
        }
        return (int) used;
    }

    private int takePart(HelperThreads threads, int budget) {
        long used = 0;
        int count = 1;
        while (count > 0 && used < budget) {
            count = threads.take();
            used += count * rowBytes;
        }
        if (threads.end()) {
            helped = false;
            done = total;
        }
        return (int) used;
    }
}
