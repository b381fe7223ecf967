package io.sluice.collectives.mapped;

import io.sluice.collectives.plan.Blocks;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one rank does in a collective that reads the other ranks' mapped memory: it reduces a range of all ranks' sources
 * into its target, and copies ranges of other ranks into its target. Offsets and lengths are in bytes, from where the
 * buffer of each rank begins. Immutable.
 */
public final class MappedTask {
    final long reduceFrom;
    final long reduceTo;
    final long reduceLength;
    final List<Range> copies;
    final boolean possible;
    final boolean givesSource;
    final boolean givesTarget;
    final boolean givesResult;
    final long totalBytes;

    // where what each rank is to read begins in this one's source; null if all read from where it begins
    private final @Nullable Blocks parts;

    /**
     * A range that is copied.
     *
     * @param rank whose range; this rank's own as well
     * @param result whether it is of the target, into which that rank reduces, or of the source
     */
    record Range(int rank, boolean result, long from, long to, long length) {}

    private MappedTask(
            long reduceFrom,
            long reduceTo,
            long reduceLength,
            List<Range> copies,
            boolean possible,
            boolean givesSource,
            boolean givesTarget,
            boolean givesResult,
            @Nullable Blocks parts) {
        this.parts = parts;
        this.reduceFrom = reduceFrom;
        this.reduceTo = reduceTo;
        this.reduceLength = reduceLength;
        this.copies = copies.stream().filter(range -> range.length > 0).toList();
        this.possible = possible;
        this.givesSource = givesSource;
        this.givesTarget = givesTarget;
        this.givesResult = givesResult;
        this.totalBytes =
                reduceLength + this.copies.stream().mapToLong(Range::length).sum();
    }

    /** Copies alone, out of sources. */
    private static MappedTask copying(
            List<Range> copies, boolean possible, boolean givesSource, @Nullable Blocks parts) {
        return new MappedTask(0, 0, 0, copies, possible, givesSource, false, false, parts);
    }

    /** Where a rank's ranges of this one's source begin. */
    long partOf(int reader) {
        Blocks each = parts;
        return each == null ? 0 : each.start(reader);
    }

    /** Each rank reduces its share, and copies the others. */
    public static MappedTask allReduce(int rank, int size, long count, int elementBytes) {
        Blocks shares = Blocks.shares(size, count, elementBytes);
        List<Range> copies = new ArrayList<>();
        for (int distance = 1; distance < size; distance++) {
            int peer = (rank + distance) % size;
            copies.add(new Range(peer, true, shares.start(peer), shares.start(peer), shares.length(peer)));
        }
        long start = shares.start(rank);
        return new MappedTask(start, start, shares.length(rank), copies, true, true, true, true, null);
    }

    /** Each rank reduces its block. */
    public static MappedTask reduceScatter(int rank, Blocks blocks) {
        return new MappedTask(blocks.start(rank), 0, blocks.length(rank), List.of(), true, true, true, false, null);
    }

    /** The root reduces all. */
    public static MappedTask reduce(int rank, int root, long bytes) {
        return new MappedTask(0, 0, rank == root ? bytes : 0, List.of(), true, true, rank == root, false, null);
    }

    /** Each rank copies all blocks. */
    public static MappedTask allGather(int rank, int size, Blocks blocks, boolean inPlace) {
        List<Range> copies = new ArrayList<>();
        for (int distance = inPlace ? 1 : 0; distance < size; distance++) {
            int peer = (rank + distance) % size;
            copies.add(new Range(peer, false, 0, blocks.start(peer), blocks.length(peer)));
        }
        return copying(copies, true, true, null);
    }

    /** Each rank copies one block of every rank; impossible in place, as a block may be overwritten before it is read. */
    public static MappedTask allToAll(int rank, int size, long blockBytes, boolean inPlace) {
        List<Range> copies = new ArrayList<>();
        for (int distance = 0; distance < size; distance++) {
            int peer = (rank + distance) % size;
            copies.add(new Range(peer, false, rank * blockBytes, peer * blockBytes, blockBytes));
        }
        return copying(copies, !inPlace, true, null);
    }

    /** Each rank copies all of the root's. */
    public static MappedTask broadcast(int rank, int root, long bytes) {
        List<Range> copies = rank == root ? List.of() : List.of(new Range(root, false, 0, 0, bytes));
        return copying(copies, true, rank == root, null);
    }

    /** The root copies all blocks. */
    public static MappedTask gather(int rank, int size, int root, Blocks blocks, boolean inPlace) {
        List<Range> copies = new ArrayList<>();
        for (int distance = inPlace ? 1 : 0; rank == root && distance < size; distance++) {
            int peer = (rank + distance) % size;
            copies.add(new Range(peer, false, 0, blocks.start(peer), blocks.length(peer)));
        }
        return copying(copies, true, rank != root, null);
    }

    /** Each rank copies its block of the root's. */
    public static MappedTask scatter(int rank, int root, Blocks blocks, boolean inPlace) {
        List<Range> copies =
                inPlace ? List.of() : List.of(new Range(root, false, blocks.start(rank), 0, blocks.length(rank)));
        return copying(copies, true, rank == root, null);
    }

    /** Each rank copies one block of every rank, of any length; only the owner of a source knows where it begins. */
    public static MappedTask allToAll(int rank, int size, Blocks sent, Blocks received) {
        List<Range> copies = new ArrayList<>();
        for (int distance = 0; distance < size; distance++) {
            int peer = (rank + distance) % size;
            long from = peer == rank ? sent.start(rank) : 0;
            copies.add(new Range(peer, false, from, received.start(peer), received.length(peer)));
        }
        return copying(copies, true, true, sent);
    }
}
