package io.sluice.collectives.plan;

/**
 * What all algorithms need to know.
 *
 * @param rank this rank
 * @param size the number of ranks
 * @param chunkBytes the most bytes of a message; a multiple of every element's length
 * @param inPlace whether the source is the corresponding part of the target
 * @param average whether the reduction is divided by the number of ranks at the end
 */
public record Shape(int rank, int size, long chunkBytes, boolean inPlace, boolean average) {
    /** The same with other messages. */
    Shape withChunk(long bytes) {
        return new Shape(rank, size, bytes, inPlace, average);
    }

    /** The rank at a distance behind this one, on the ring. */
    int before(int distance) {
        return Math.floorMod(rank - distance, size);
    }

    /** The rank at a distance after this one, on the ring. */
    int after(int distance) {
        return Math.floorMod(rank + distance, size);
    }
}
