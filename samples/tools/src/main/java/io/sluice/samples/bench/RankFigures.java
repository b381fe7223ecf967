package io.sluice.samples.bench;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import org.HdrHistogram.Histogram;

/**
 * What a case has taken on one rank.
 *
 * @param nanos measured time
 * @param allocated bytes of heap by the thread that runs collectives
 * @param processorNanos processor time of the process
 */
record RankFigures(long nanos, long operations, long allocated, long processorNanos, Histogram latencies) {
    /** What it takes in bytes. A histogram has at most a few thousand steps, and is compressed. */
    static final int BYTES = 64 << 10;

    private static final int HEADER = 5 * Long.BYTES;

    /** The latencies of all ranks together. */
    static Histogram latencies(List<RankFigures> ranks) {
        // the constructor that takes a histogram copies its range alone
        Histogram all = ranks.getFirst().latencies().copy();
        ranks.stream().skip(1).map(RankFigures::latencies).forEach(all::add);
        return all;
    }

    /** For another process of this program. */
    byte[] encoded() {
        ByteBuffer histogram = ByteBuffer.allocate(latencies.getNeededByteBufferCapacity());
        int length = latencies.encodeIntoCompressedByteBuffer(histogram, Deflater.BEST_SPEED);
        if (length > BYTES - HEADER) {
            throw BenchException.failed("the latencies take " + length + " bytes to be told");
        }
        return ByteBuffer.allocate(BYTES)
                .putLong(nanos)
                .putLong(operations)
                .putLong(allocated)
                .putLong(processorNanos)
                .putLong(length)
                .put(histogram.array(), 0, length)
                .array();
    }

    static RankFigures decoded(ByteBuffer bytes) {
        try {
            return new RankFigures(
                    bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong(), histogram(bytes));
        } catch (DataFormatException e) {
            throw new IllegalStateException("a rank of this program tells its latencies in another form", e);
        }
    }

    private static Histogram histogram(ByteBuffer bytes) throws DataFormatException {
        byte[] compressed = new byte[(int) bytes.getLong()];
        bytes.get(compressed);
        return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(compressed), 0);
    }
}
