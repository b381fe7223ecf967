package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.samples.bench.CollectiveContent.Expected;
import java.lang.foreign.MemorySegment;

/**
 * A rank's memory for one case: for each slot elements that it gives, and room for those that it gets. Of a broadcast both are the
 * same.
 */
final class RankBuffers implements CollectiveCase.Buffers, AutoCloseable {
    private final CollectivePlan.Case measured;
    private final CollectiveContent content;
    private final int rank;
    private final int size;
    private final MemoryRegion source;
    private final MemoryRegion target;
    private final long sourceBytes;
    private final long targetBytes;

    RankBuffers(
            TransferEngine engine,
            CollectivePlan plan,
            CollectivePlan.Case measured,
            CollectiveContent content,
            int rank) {
        this.measured = measured;
        this.content = content;
        this.rank = rank;
        size = plan.ranks();
        long one = measured.count() * plan.type().bytes();
        BenchCollective collective = measured.collective();
        boolean root = rank == 0;
        sourceBytes = switch (collective) {
            case ALLREDUCE, REDUCE, ALLGATHER, GATHER, SENDRECV -> one;
            case REDUCESCATTER, ALLTOALL -> one * size;
            case SCATTER -> root ? one * size : 0;
            case BROADCAST, BARRIER -> 0;
        };
        targetBytes = switch (collective) {
            case ALLREDUCE, REDUCESCATTER, SCATTER, BROADCAST, SENDRECV -> one;
            case ALLGATHER, ALLTOALL -> one * size;
            case REDUCE -> root ? one : 0;
            case GATHER -> root ? one * size : 0;
            case BARRIER -> 0;
        };
        int slots = plan.slots(measured);
        source = engine.allocate(slots * CollectivePlan.stride(sourceBytes), RegionOptions.readOnly());
        target = engine.allocate(slots * CollectivePlan.stride(targetBytes), RegionOptions.readOnly());
    }

    MemoryRegion source() {
        return source;
    }

    MemoryRegion target() {
        return target;
    }

    long sourceOffset(int slot) {
        return slot * CollectivePlan.stride(sourceBytes);
    }

    long targetOffset(int slot) {
        return slot * CollectivePlan.stride(targetBytes);
    }

    private MemorySegment sourceOf(int slot) {
        return source.segment().asSlice(sourceOffset(slot), sourceBytes);
    }

    private MemorySegment targetOf(int slot) {
        return target.segment().asSlice(targetOffset(slot), targetBytes);
    }

    /** What this rank gives in an operation. */
    long sourceBytes() {
        return sourceBytes;
    }

    /** What this rank gets in an operation. */
    long targetBytes() {
        return targetBytes;
    }

    @Override
    public void fill(int slot, long operation) {
        content.of(rank).put(operation, 0, sourceOf(slot));
        if (measured.collective() == BenchCollective.BROADCAST && rank == 0) {
            content.of(0).put(operation, 0, targetOf(slot));
        } else {
            CollectiveContent.poison(targetOf(slot));
        }
    }

    @Override
    public boolean isRight(int slot, long operation) {
        return content.of(rank).isIn(operation, 0, sourceOf(slot)) && isTargetRight(operation, targetOf(slot));
    }

    private boolean isTargetRight(long operation, MemorySegment got) {
        long count = measured.count();
        return switch (measured.collective()) {
            case ALLREDUCE, REDUCE -> content.reduced().isIn(operation, 0, got);
            case REDUCESCATTER -> content.reduced().isIn(operation, rank * count, got);
            case BROADCAST -> content.of(0).isIn(operation, 0, got);
            case SCATTER -> content.of(0).isIn(operation, rank * count, got);
            case SENDRECV -> content.of((rank + size - 1) % size).isIn(operation, 0, got);
            case ALLGATHER, GATHER -> areBlocksRight(operation, 0, got);
            case ALLTOALL -> areBlocksRight(operation, rank * count, got);
            case BARRIER -> true;
        };
    }

    /** A block of each rank; none where this rank gets none. */
    private boolean areBlocksRight(long operation, long first, MemorySegment got) {
        long bytes = got.byteSize() / size;
        for (int from = 0; from < size; from++) {
            Expected expected = content.of(from);
            if (!expected.isIn(operation, first, got.asSlice(from * bytes, bytes))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        Waiting.await(source.close(), "giving memory back");
        Waiting.await(target.close(), "giving memory back");
    }
}
