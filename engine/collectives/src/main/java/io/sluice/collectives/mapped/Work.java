package io.sluice.collectives.mapped;

import io.sluice.collectives.link.Copy;
import io.sluice.collectives.mapped.MappedTask.Range;
import io.sluice.engine.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Reduces and copies, in pieces that do not hold the loop up. All of it is the loop's. */
final class Work {
    // small enough for what was reduced to be still cached when another rank copies it
    private static final long PIECE_BYTES = 128 << 10;
    // measured on an AMD EPYC (Zen 3): a result that another processor reads is better not in the caches of this one,
    // and
    // copies gain where they are larger than the caches
    private static final long STREAMED_RESULT_BYTES = 32 << 10;
    private static final long STREAMED_BYTES = 2 << 20;

    private final MappedRegions regions;
    private final MappedTask task;
    private final Operands operands;
    private final int rank;
    private final MemoryRegion source;
    private final long sourceOffset;
    private final MemoryRegion target;
    private final long targetOffset;
    private final MemorySegment targetMemory;
    private final PeerState[] peers;
    private final Range[] copies;
    private final long[] copied;
    private final boolean streamsResult;
    private final boolean streamsCopies;

    private long reduced;
    private long done;
    private int nextCopy;

    /**
     * Creates it.
     *
     * @param peers by rank, also this one
     */
    Work(
            MappedRegions regions,
            MappedTask task,
            Operands operands,
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            PeerState[] peers) {
        this.regions = regions;
        this.task = task;
        this.operands = operands;
        this.rank = regions.rank();
        this.source = source;
        this.sourceOffset = sourceOffset;
        this.target = target;
        this.targetOffset = targetOffset;
        this.targetMemory = target.segment();
        this.peers = peers;
        this.copies = task.copies.toArray(Range[]::new);
        this.copied = new long[copies.length];
        this.streamsResult = task.reduceLength >= (task.givesResult ? STREAMED_RESULT_BYTES : STREAMED_BYTES);
        this.streamsCopies = task.totalBytes >= STREAMED_BYTES;
        peers[rank].source = source.segment();
        peers[rank].target = targetMemory;
    }

    void reset() {
        Arrays.fill(copied, 0);
        reduced = 0;
        done = 0;
        nextCopy = 0;
    }

    /** How much of this rank's result is in its target. */
    long reduced() {
        return reduced;
    }

    boolean isDone() {
        return done == task.totalBytes;
    }

    /** The share that is done, 0 to 1. */
    double progress() {
        return task.totalBytes == 0 ? 1 : (double) done / task.totalBytes;
    }

    /** Reduces a piece, if there is one; returns the bytes processed. */
    int reducePiece() {
        long length = Math.min(PIECE_BYTES, task.reduceLength - reduced);
        if (length <= 0) {
            return 0;
        }
        MemorySegment table = regions.table();
        for (int i = 0; i < peers.length; i++) {
            long offset = (i == rank ? sourceOffset : peers[i].offer.offset(false)) + task.reduceFrom + reduced;
            operands.put(table, i, peers[i].source, offset, length);
        }
        // the loop ends the attachments of peers; as they read these regions, it also frees them
        if (!source.isOpen() || !target.isOpen()) {
            throw new IllegalStateException("a region of the collective is closed");
        }
        operands.reduce(
                table, peers.length, targetMemory, targetOffset + task.reduceTo + reduced, length, streamsResult);
        reduced += length;
        done += length;
        return (int) length * peers.length;
    }

    /** Copies a piece that is ready, if there is one; returns the bytes processed. */
    int copyPiece() {
        for (int i = 0; i < copies.length; i++) {
            int index = (nextCopy + i) % copies.length;
            Range range = copies[index];
            PeerState peer = peers[range.rank()];
            long there = range.result() ? peer.result : range.length();
            long length = Math.min(PIECE_BYTES, there - copied[index]);
            MemorySegment from = range.result() ? peer.target : peer.source;
            if (length > 0) {
                if (from == null) {
                    throw new IllegalStateException("a region of rank " + range.rank() + " is closed");
                }
                long base = range.rank() == rank ? sourceOffset : peer.offer.offset(range.result());
                Copy.copy(
                        from,
                        base + range.from() + copied[index],
                        targetMemory,
                        targetOffset + range.to() + copied[index],
                        length,
                        streamsCopies);
                copied[index] += length;
                done += length;
                nextCopy = index + 1;
                return (int) length;
            }
        }
        return 0;
    }
}
