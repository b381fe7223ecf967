package io.sluice.vertx;

import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.CollectiveOperations;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.engine.MemoryRegion;
import java.util.Objects;
import java.util.function.Function;

/**
 * The collectives of a team, in one of two forms: {@link TransferTeam} calls each, {@link TransferTeam#prepare()}
 * prepares it. Parameters and errors are those of the methods of the same name in {@link CollectiveOperations}.
 *
 * @param <C> the type of the engine's collective
 * @param <R> what the methods return
 */
@SuppressWarnings("exports") // Applications with collectives require their module; others do without.
public abstract class TeamCollectives<C extends Collective, R> {
    private final CollectiveOperations<C> operations;
    final CollectiveOptions options;

    TeamCollectives(CollectiveOperations<C> operations, CollectiveOptions options) {
        this.operations = operations;
        this.options = Objects.requireNonNull(options, "options");
    }

    /** Makes what a method returns out of the call to the team. */
    abstract R made(Function<CollectiveCallback, C> call);

    /**
     * Reduces the elements of all ranks; every rank gets the result.
     *
     * @param source this rank's elements
     * @param sourceOffset where they begin, in bytes
     * @param target for the result
     * @param targetOffset where it begins, in bytes
     * @param count elements of each rank, 0 or more
     * @param type the type of the elements
     * @param operation how they are reduced
     * @return the collective
     */
    public R allReduce(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation) {
        return made(end ->
                operations.allReduce(source, sourceOffset, target, targetOffset, count, type, operation, options, end));
    }

    /**
     * Reduces the elements of all ranks; each rank gets one block of the result.
     *
     * @param source this rank's elements: a block for each rank
     * @param sourceOffset where they begin, in bytes
     * @param target for this rank's block of the result
     * @param targetOffset where it begins, in bytes
     * @param count elements of a block, 0 or more
     * @param type the type of the elements
     * @param operation how they are reduced
     * @return the collective
     */
    public R reduceScatter(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation) {
        return made(end -> operations.reduceScatter(
                source, sourceOffset, target, targetOffset, count, type, operation, options, end));
    }

    /**
     * Does the same as {@link #reduceScatter}, with blocks of different lengths.
     *
     * @param source this rank's elements: a block for each rank
     * @param sourceOffset where they begin, in bytes
     * @param target for this rank's block of the result
     * @param targetOffset where it begins, in bytes
     * @param counts elements of each block, by rank; copied
     * @param type the type of the elements
     * @param operation how they are reduced
     * @return the collective
     */
    public R reduceScatterV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type,
            ReduceOperation operation) {
        long[] copy = counts.clone();
        return made(end -> operations.reduceScatterV(
                source, sourceOffset, target, targetOffset, copy, type, operation, options, end));
    }

    /**
     * Gathers a block of each rank; every rank gets all, in the order of the ranks.
     *
     * @param source this rank's block
     * @param sourceOffset where it begins, in bytes
     * @param target for all blocks
     * @param targetOffset where they begin, in bytes
     * @param count elements of a block, 0 or more
     * @param type the type of the elements
     * @return the collective
     */
    public R allGather(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type) {
        return made(end -> operations.allGather(source, sourceOffset, target, targetOffset, count, type, options, end));
    }

    /**
     * Does the same as {@link #allGather}, with blocks of different lengths.
     *
     * @param source this rank's block
     * @param sourceOffset where it begins, in bytes
     * @param target for all blocks
     * @param targetOffset where they begin, in bytes
     * @param counts elements of each block, by rank; copied
     * @param type the type of the elements
     * @return the collective
     */
    public R allGatherV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type) {
        long[] copy = counts.clone();
        return made(end -> operations.allGatherV(source, sourceOffset, target, targetOffset, copy, type, options, end));
    }

    /**
     * Copies the root's elements to every rank.
     *
     * @param buffer the root's elements, or where they go
     * @param offset where they begin, in bytes
     * @param count elements, 0 or more
     * @param type the type of the elements
     * @param root the rank that has them
     * @return the collective
     */
    public R broadcast(MemoryRegion buffer, long offset, long count, ElementType type, int root) {
        return made(end -> operations.broadcast(buffer, offset, count, type, root, options, end));
    }

    /**
     * Reduces the elements of all ranks; the root gets the result.
     *
     * @param source this rank's elements
     * @param sourceOffset where they begin, in bytes
     * @param target for the result; not used on other ranks than the root
     * @param targetOffset where it begins, in bytes
     * @param count elements of each rank, 0 or more
     * @param type the type of the elements
     * @param operation how they are reduced
     * @param root the rank that gets the result
     * @return the collective
     */
    public R reduce(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation,
            int root) {
        return made(end -> operations.reduce(
                source, sourceOffset, target, targetOffset, count, type, operation, root, options, end));
    }

    /**
     * Gathers a block of each rank; the root gets all, in the order of the ranks.
     *
     * @param source this rank's block
     * @param sourceOffset where it begins, in bytes
     * @param target for all blocks; not used on other ranks than the root
     * @param targetOffset where they begin, in bytes
     * @param count elements of a block, 0 or more
     * @param type the type of the elements
     * @param root the rank that gets the blocks
     * @return the collective
     */
    public R gather(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            int root) {
        return made(
                end -> operations.gather(source, sourceOffset, target, targetOffset, count, type, root, options, end));
    }

    /**
     * Does the same as {@link #gather}, with blocks of different lengths.
     *
     * @param source this rank's block
     * @param sourceOffset where it begins, in bytes
     * @param target for all blocks; not used on other ranks than the root
     * @param targetOffset where they begin, in bytes
     * @param counts elements of each block, by rank; copied. On other ranks than the root only the own one counts
     * @param type the type of the elements
     * @param root the rank that gets the blocks
     * @return the collective
     */
    public R gatherV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type,
            int root) {
        long[] copy = counts.clone();
        return made(
                end -> operations.gatherV(source, sourceOffset, target, targetOffset, copy, type, root, options, end));
    }

    /**
     * Gives each rank one of the root's blocks.
     *
     * @param source the root's blocks, in the order of the ranks; not used on other ranks
     * @param sourceOffset where they begin, in bytes
     * @param target for this rank's block
     * @param targetOffset where it begins, in bytes
     * @param count elements of a block, 0 or more
     * @param type the type of the elements
     * @param root the rank that has the blocks
     * @return the collective
     */
    public R scatter(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            int root) {
        return made(
                end -> operations.scatter(source, sourceOffset, target, targetOffset, count, type, root, options, end));
    }

    /**
     * Does the same as {@link #scatter}, with blocks of different lengths.
     *
     * @param source the root's blocks, in the order of the ranks; not used on other ranks
     * @param sourceOffset where they begin, in bytes
     * @param target for this rank's block
     * @param targetOffset where it begins, in bytes
     * @param counts elements of each block, by rank; copied. On other ranks than the root only the own one counts
     * @param type the type of the elements
     * @param root the rank that has the blocks
     * @return the collective
     */
    public R scatterV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type,
            int root) {
        long[] copy = counts.clone();
        return made(
                end -> operations.scatterV(source, sourceOffset, target, targetOffset, copy, type, root, options, end));
    }

    /**
     * Sends block i of each rank to rank i.
     *
     * @param source this rank's blocks, one for each rank
     * @param sourceOffset where they begin, in bytes
     * @param target for the blocks of all ranks, in their order
     * @param targetOffset where they begin, in bytes
     * @param count elements of a block, 0 or more
     * @param type the type of the elements
     * @return the collective
     */
    public R allToAll(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type) {
        return made(end -> operations.allToAll(source, sourceOffset, target, targetOffset, count, type, options, end));
    }

    /**
     * Does the same as {@link #allToAll}, with blocks of different lengths; not in place.
     *
     * @param source this rank's blocks, one for each rank
     * @param sourceOffset where they begin, in bytes
     * @param sourceCounts elements that go to each rank; copied
     * @param target for the blocks of all ranks, in their order
     * @param targetOffset where they begin, in bytes
     * @param targetCounts elements that come from each rank; copied
     * @param type the type of the elements
     * @return the collective
     */
    public R allToAllV(
            MemoryRegion source,
            long sourceOffset,
            long[] sourceCounts,
            MemoryRegion target,
            long targetOffset,
            long[] targetCounts,
            ElementType type) {
        long[] sent = sourceCounts.clone();
        long[] received = targetCounts.clone();
        return made(end ->
                operations.allToAllV(source, sourceOffset, sent, target, targetOffset, received, type, options, end));
    }

    /**
     * Ends after every rank has called it.
     *
     * @return the collective
     */
    public R barrier() {
        return made(end -> operations.barrier(options, end));
    }
}
