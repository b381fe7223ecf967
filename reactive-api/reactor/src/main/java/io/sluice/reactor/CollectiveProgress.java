package io.sluice.reactor;

import io.sluice.collectives.Collective;

/**
 * How far a collective is on this rank.
 *
 * @param processedBytes how many of the bytes from other ranks have arrived and are processed; 0 to the total
 * @param totalBytes how many come in all
 */
public record CollectiveProgress(long processedBytes, long totalBytes) {
    static CollectiveProgress of(Collective collective) {
        long total = collective.totalBytes();
        return new CollectiveProgress(Math.min(total, collective.processedBytes()), total);
    }

    /**
     * Returns the part that is processed.
     *
     * @return 0 to 1; 1 if nothing comes
     */
    public double fraction() {
        return totalBytes == 0 ? 1 : (double) processedBytes / totalBytes;
    }
}
