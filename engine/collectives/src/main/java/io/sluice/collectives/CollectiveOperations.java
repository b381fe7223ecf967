package io.sluice.collectives;

import io.sluice.engine.MemoryRegion;

/**
 * The collectives of a team. Every rank calls the same ones in the same order, with the same kind, type, operation,
 * root, algorithm and counts; many may be under way. {@link Team} calls them immediately; {@link Team#prepare()} returns
 * collectives that {@link PersistentCollective#start} calls. All methods may be called from any thread, but the order of
 * the calls must be that of the other ranks.
 *
 * <p>Buffers lie in regions of host memory of the team's engine; they need no rights of peers, but large collectives over
 * shm are faster with the right to read, see {@link Algorithm#MAPPED}. Offsets are in bytes,
 * counts in elements. Source and target do not overlap, unless the collective works in place: then both are the same
 * range, or, where one of them has a block for each rank, the other is this rank's block in it.
 *
 * <p>All methods throw {@link IndexOutOfBoundsException} if a buffer leaves its region, {@link IllegalArgumentException}
 * if buffers overlap, a count is negative, the root is no rank or the algorithm does not serve the kind, {@link
 * io.sluice.engine.MemoryNotAccessibleException} for memory of a device, {@link
 * io.sluice.engine.TooManyPendingException} if too many collectives are pending, and, once the team has failed, the
 * error that its pending collectives have ended with. A method that throws has called nothing.
 *
 * @param <C> the type that the operations return
 */
public interface CollectiveOperations<C extends Collective> {
    /**
     * Reduces the elements of all ranks; every rank gets the result, with the same bits.
     *
     * @param source this rank's elements
     * @param sourceOffset where they begin, in bytes
     * @param target for the result
     * @param targetOffset where it begins, in bytes
     * @param count elements of each rank, 0 or more
     * @param type the type of the elements
     * @param operation how they are reduced
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C allReduce(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation,
            CollectiveOptions options,
            CollectiveCallback callback);

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
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C reduceScatter(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation,
            CollectiveOptions options,
            CollectiveCallback callback);

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
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C reduceScatterV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type,
            ReduceOperation operation,
            CollectiveOptions options,
            CollectiveCallback callback);

    /**
     * Gathers a block of each rank; every rank gets all, in the order of the ranks.
     *
     * @param source this rank's block
     * @param sourceOffset where it begins, in bytes
     * @param target for all blocks
     * @param targetOffset where they begin, in bytes
     * @param count elements of a block, 0 or more
     * @param type the type of the elements
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C allGather(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            CollectiveOptions options,
            CollectiveCallback callback);

    /**
     * Does the same as {@link #allGather}, with blocks of different lengths.
     *
     * @param source this rank's block
     * @param sourceOffset where it begins, in bytes
     * @param target for all blocks
     * @param targetOffset where they begin, in bytes
     * @param counts elements of each block, by rank; copied
     * @param type the type of the elements
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C allGatherV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type,
            CollectiveOptions options,
            CollectiveCallback callback);

    /**
     * Copies the root's elements to every rank.
     *
     * @param buffer the root's elements, or where they go
     * @param offset where they begin, in bytes
     * @param count elements, 0 or more
     * @param type the type of the elements
     * @param root the rank that has them
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C broadcast(
            MemoryRegion buffer,
            long offset,
            long count,
            ElementType type,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback);

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
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C reduce(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback);

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
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C gather(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback);

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
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C gatherV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback);

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
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C scatter(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback);

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
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C scatterV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback);

    /**
     * Sends block i of each rank to rank i.
     *
     * @param source this rank's blocks, one for each rank
     * @param sourceOffset where they begin, in bytes
     * @param target for the blocks of all ranks, in their order
     * @param targetOffset where they begin, in bytes
     * @param count elements of a block, 0 or more
     * @param type the type of the elements
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C allToAll(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            CollectiveOptions options,
            CollectiveCallback callback);

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
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C allToAllV(
            MemoryRegion source,
            long sourceOffset,
            long[] sourceCounts,
            MemoryRegion target,
            long targetOffset,
            long[] targetCounts,
            ElementType type,
            CollectiveOptions options,
            CollectiveCallback callback);

    /**
     * Ends after every rank has called it.
     *
     * @param options time-out, algorithm, priority and start
     * @param callback receives the terminal signal
     * @return the collective
     */
    C barrier(CollectiveOptions options, CollectiveCallback callback);
}
