package io.sluice.collectives.plan;

/** Adjoining ranges, one for each rank, in bytes. */
public final class Blocks {
    private final long[] starts;

    private Blocks(long[] starts) {
        this.starts = starts;
    }

    /** Blocks of one length. */
    public static Blocks equal(int size, long bytes) {
        long[] starts = new long[size + 1];
        for (int i = 1; i <= size; i++) {
            starts[i] = Math.addExact(starts[i - 1], bytes);
        }
        return new Blocks(starts);
    }

    /** Blocks of given numbers of elements. */
    public static Blocks of(long[] counts, int elementBytes) {
        long[] starts = new long[counts.length + 1];
        for (int i = 0; i < counts.length; i++) {
            starts[i + 1] = Math.addExact(starts[i], Math.multiplyExact(counts[i], elementBytes));
        }
        return new Blocks(starts);
    }

    /** A number of elements divided as evenly as possible; the first blocks have one more. */
    public static Blocks shares(int size, long count, int elementBytes) {
        long[] counts = new long[size];
        for (int i = 0; i < size; i++) {
            counts[i] = count / size + (i < count % size ? 1 : 0);
        }
        return of(counts, elementBytes);
    }

    /** Where a rank's block begins. */
    public long start(int rank) {
        return starts[rank];
    }

    /** The length of a rank's block. */
    public long length(int rank) {
        return starts[rank + 1] - starts[rank];
    }

    /** The length of the blocks from one rank's to before another's. */
    public long length(int first, int end) {
        return starts[end] - starts[first];
    }

    /** The length of all blocks. */
    public long total() {
        return starts[starts.length - 1];
    }
}
