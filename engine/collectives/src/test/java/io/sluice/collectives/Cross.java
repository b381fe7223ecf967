package io.sluice.collectives;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One point of the crosses: what is called, by how many ranks, with which elements.
 *
 * @param count elements of each rank, or of a block
 * @param operation {@code null} where nothing is reduced
 * @param inPlace whether source and target are one, where the collective allows that
 * @param exact whether floats are such that no reduction rounds them
 * @param offset where buffers begin in their regions, in bytes
 * @param seed of the elements
 */
record Cross(
        Called called,
        int size,
        long count,
        ElementType type,
        @Nullable ReduceOperation operation,
        boolean inPlace,
        Algorithm algorithm,
        boolean persistent,
        boolean exact,
        long offset,
        int root,
        long seed) {

    /** The methods of a team. */
    enum Called {
        ALL_REDUCE(CollectiveKind.ALL_REDUCE),
        REDUCE_SCATTER(CollectiveKind.REDUCE_SCATTER),
        REDUCE_SCATTER_V(CollectiveKind.REDUCE_SCATTER),
        REDUCE(CollectiveKind.REDUCE),
        ALL_GATHER(CollectiveKind.ALL_GATHER),
        ALL_GATHER_V(CollectiveKind.ALL_GATHER),
        BROADCAST(CollectiveKind.BROADCAST),
        GATHER(CollectiveKind.GATHER),
        GATHER_V(CollectiveKind.GATHER),
        SCATTER(CollectiveKind.SCATTER),
        SCATTER_V(CollectiveKind.SCATTER),
        ALL_TO_ALL(CollectiveKind.ALL_TO_ALL),
        ALL_TO_ALL_V(CollectiveKind.ALL_TO_ALL),
        SEND_AND_RECEIVE(CollectiveKind.SEND);

        private final CollectiveKind kind;

        Called(CollectiveKind kind) {
            this.kind = kind;
        }

        CollectiveKind kind() {
            return kind;
        }

        boolean reduces() {
            return ordinal() <= REDUCE.ordinal();
        }

        boolean hasVector() {
            return this == ALL_REDUCE || this == REDUCE || this == BROADCAST || this == SEND_AND_RECEIVE;
        }
    }

    /**
     * A part of a target, and where it comes from; places are in elements.
     *
     * @param rank whose source
     */
    record Piece(long targetPlace, int rank, long sourcePlace, long count) {}

    /** The same with the algorithm that the team chooses. */
    Cross automatic() {
        return new Cross(
                called, size, count, type, operation, inPlace, Algorithm.AUTO, persistent, exact, offset, root, seed);
    }

    /** Elements of a block, by rank. */
    long block(int rank) {
        return switch (called) {
            case REDUCE_SCATTER_V, ALL_GATHER_V, GATHER_V, SCATTER_V -> varied(rank);
            default -> count;
        };
    }

    private long varied(int number) {
        return switch (number % 3) {
            case 0 -> count;
            case 1 -> count / 2;
            default -> count + number;
        };
    }

    /** Elements of a block of all-to-all. */
    private long block(int from, int to) {
        return called == Called.ALL_TO_ALL_V ? varied(from + 2 * to) : count;
    }

    long[] blocks() {
        long[] blocks = new long[size];
        for (int rank = 0; rank < size; rank++) {
            blocks[rank] = block(rank);
        }
        return blocks;
    }

    long[] sentBy(int rank) {
        long[] counts = new long[size];
        for (int to = 0; to < size; to++) {
            counts[to] = block(rank, to);
        }
        return counts;
    }

    long[] receivedBy(int rank) {
        long[] counts = new long[size];
        for (int from = 0; from < size; from++) {
            counts[from] = block(from, rank);
        }
        return counts;
    }

    static long sum(long[] counts, int before) {
        long sum = 0;
        for (int i = 0; i < before; i++) {
            sum += counts[i];
        }
        return sum;
    }

    /** Where a rank's block begins among all. */
    long start(int rank) {
        return sum(blocks(), rank);
    }

    long sourceCount(int rank) {
        return switch (called) {
            case ALL_REDUCE, REDUCE, SEND_AND_RECEIVE, BROADCAST -> count;
            case REDUCE_SCATTER, REDUCE_SCATTER_V -> start(size);
            case ALL_GATHER, ALL_GATHER_V, GATHER, GATHER_V -> block(rank);
            case SCATTER, SCATTER_V -> rank == root ? start(size) : 0;
            case ALL_TO_ALL, ALL_TO_ALL_V -> sum(sentBy(rank), size);
        };
    }

    /** How many elements a rank gets. */
    long targetCount(int rank) {
        return switch (called) {
            case ALL_REDUCE, SEND_AND_RECEIVE, BROADCAST -> count;
            case REDUCE -> rank == root ? count : 0;
            case REDUCE_SCATTER, REDUCE_SCATTER_V, SCATTER, SCATTER_V -> block(rank);
            case ALL_GATHER, ALL_GATHER_V -> start(size);
            case GATHER, GATHER_V -> rank == root ? start(size) : 0;
            case ALL_TO_ALL, ALL_TO_ALL_V -> sum(receivedBy(rank), size);
        };
    }

    /** Whether source and target of a rank are one. */
    boolean inPlaceOn(int rank) {
        return switch (called) {
            case BROADCAST -> true;
            case ALL_TO_ALL_V, SEND_AND_RECEIVE -> false;
            case REDUCE, GATHER, GATHER_V, SCATTER, SCATTER_V -> inPlace && rank == root;
            default -> inPlace;
        };
    }

    /** Where the source begins in the buffer that is both. */
    long sourceInPlace(int rank) {
        return switch (called) {
            case ALL_GATHER, ALL_GATHER_V, GATHER, GATHER_V -> start(rank);
            default -> 0;
        };
    }

    /** Where the target begins in the buffer that is both. */
    long targetInPlace(int rank) {
        return switch (called) {
            case REDUCE_SCATTER, REDUCE_SCATTER_V, SCATTER, SCATTER_V -> start(rank);
            default -> 0;
        };
    }

    /** Where the elements that a rank gets begin in the reduced vector. */
    long firstReduced(int rank) {
        return called == Called.REDUCE_SCATTER || called == Called.REDUCE_SCATTER_V ? start(rank) : 0;
    }

    /** Where the elements come from that a rank gets without a reduction. */
    List<Piece> pieces(int rank) {
        List<Piece> pieces = new ArrayList<>();
        switch (called) {
            case BROADCAST -> pieces.add(new Piece(0, root, 0, count));
            case SEND_AND_RECEIVE -> pieces.add(new Piece(0, (rank + size - 1) % size, 0, count));
            case SCATTER, SCATTER_V -> pieces.add(new Piece(0, root, start(rank), block(rank)));
            case ALL_GATHER, ALL_GATHER_V, GATHER, GATHER_V -> {
                for (int from = 0; from < size && targetCount(rank) > 0; from++) {
                    pieces.add(new Piece(start(from), from, 0, block(from)));
                }
            }
            default -> {
                long at = 0;
                for (int from = 0; from < size; from++) {
                    pieces.add(new Piece(at, from, sum(sentBy(from), rank), block(from, rank)));
                    at += block(from, rank);
                }
            }
        }
        return pieces;
    }

    @Override
    public String toString() {
        return called + " of " + size + " ranks, " + count + " × " + type
                + (operation == null ? "" : " " + operation + (exact ? " exact" : ""))
                + (inPlace ? " in place" : "") + " " + algorithm + (persistent ? " persistent" : "") + " at " + offset
                + " root " + root + " seed " + seed;
    }
}
