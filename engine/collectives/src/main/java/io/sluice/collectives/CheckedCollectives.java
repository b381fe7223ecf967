package io.sluice.collectives;

import io.sluice.collectives.mapped.MappedTask;
import io.sluice.collectives.plan.Blocks;
import io.sluice.collectives.plan.DirectPlans;
import io.sluice.collectives.plan.DoublingPlans;
import io.sluice.collectives.plan.Plan;
import io.sluice.collectives.plan.Shape;
import io.sluice.collectives.plan.TreePlans;
import io.sluice.engine.MemoryRegion;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Checks the arguments of collectives and plans them. Any thread. */
abstract class CheckedCollectives<C extends Collective> implements CollectiveOperations<C> {
    private final Ranks ranks;

    /**
     * What plans depend on.
     *
     * @param transport the one by which all ranks reach each other, or empty
     */
    record Ranks(int rank, int size, long chunkBytes, AlgorithmTable algorithms, String transport) {}

    CheckedCollectives(Ranks ranks) {
        this.ranks = ranks;
    }

    /** Calls or prepares a collective. */
    abstract C make(Call call, CollectiveOptions options, CollectiveCallback callback);

    @Override
    public C allReduce(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation,
            CollectiveOptions options,
            CollectiveCallback callback) {
        long bytes = bytes(count, type);
        Buffer from = new Buffer(source, sourceOffset, bytes);
        Buffer to = new Buffer(target, targetOffset, bytes);
        boolean inPlace = from.isSameAs(to);
        checkApart(inPlace, from, to);
        Algorithm algorithm = choose(CollectiveKind.ALL_REDUCE, options, bytes);
        Shape shape = shape(inPlace, operation);
        Algorithm planned = planned(algorithm, CollectiveKind.ALL_REDUCE, bytes);
        Plan plan = AlgorithmPlans.allReduce(planned, shape, count, type.bytes());
        Call call = new Call(CollectiveKind.ALL_REDUCE, planned, plan, from, to, type, operation, 0, count);
        return make(
                reads(algorithm, bytes)
                        ? call.reading(MappedTask.allReduce(ranks.rank, ranks.size, count, type.bytes()))
                        : call,
                options,
                callback);
    }

    @Override
    public C reduceScatter(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation,
            CollectiveOptions options,
            CollectiveCallback callback) {
        Blocks blocks = Blocks.equal(ranks.size, bytes(count, type));
        return reduceScatter(
                source, sourceOffset, target, targetOffset, blocks, count, type, operation, options, callback);
    }

    @Override
    public C reduceScatterV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type,
            ReduceOperation operation,
            CollectiveOptions options,
            CollectiveCallback callback) {
        Blocks blocks = blocks(counts, type);
        return reduceScatter(
                source, sourceOffset, target, targetOffset, blocks, sum(counts), type, operation, options, callback);
    }

    private C reduceScatter(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            Blocks blocks,
            long agreed,
            ElementType type,
            ReduceOperation operation,
            CollectiveOptions options,
            CollectiveCallback callback) {
        Buffer from = new Buffer(source, sourceOffset, blocks.total());
        Buffer to = new Buffer(target, targetOffset, blocks.length(ranks.rank));
        boolean inPlace = to.isPartOf(from, blocks.start(ranks.rank));
        checkApart(inPlace, from, to);
        Algorithm algorithm = choose(CollectiveKind.REDUCE_SCATTER, options, blocks.total());
        Algorithm planned = planned(algorithm, CollectiveKind.REDUCE_SCATTER, blocks.total());
        Plan plan = AlgorithmPlans.reduceScatter(planned, shape(inPlace, operation), blocks);
        Call call = new Call(CollectiveKind.REDUCE_SCATTER, planned, plan, from, to, type, operation, 0, agreed);
        return make(
                reads(algorithm, blocks.total()) ? call.reading(MappedTask.reduceScatter(ranks.rank, blocks)) : call,
                options,
                callback);
    }

    @Override
    public C allGather(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            CollectiveOptions options,
            CollectiveCallback callback) {
        Blocks blocks = Blocks.equal(ranks.size, bytes(count, type));
        return allGather(source, sourceOffset, target, targetOffset, blocks, count, type, options, callback);
    }

    @Override
    public C allGatherV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type,
            CollectiveOptions options,
            CollectiveCallback callback) {
        Blocks blocks = blocks(counts, type);
        return allGather(source, sourceOffset, target, targetOffset, blocks, sum(counts), type, options, callback);
    }

    private C allGather(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            Blocks blocks,
            long agreed,
            ElementType type,
            CollectiveOptions options,
            CollectiveCallback callback) {
        Buffer from = new Buffer(source, sourceOffset, blocks.length(ranks.rank));
        Buffer to = new Buffer(target, targetOffset, blocks.total());
        boolean inPlace = from.isPartOf(to, blocks.start(ranks.rank));
        checkApart(inPlace, from, to);
        Algorithm algorithm = choose(CollectiveKind.ALL_GATHER, options, blocks.total());
        Algorithm planned = planned(algorithm, CollectiveKind.ALL_GATHER, blocks.total());
        Plan plan = AlgorithmPlans.allGather(planned, shape(inPlace, null), blocks);
        Call call = new Call(CollectiveKind.ALL_GATHER, planned, plan, from, to, type, null, 0, agreed);
        return make(
                reads(algorithm, blocks.total())
                        ? call.reading(MappedTask.allGather(ranks.rank, ranks.size, blocks, inPlace))
                        : call,
                options,
                callback);
    }

    @Override
    public C broadcast(
            MemoryRegion buffer,
            long offset,
            long count,
            ElementType type,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback) {
        Objects.checkIndex(root, ranks.size);
        long bytes = bytes(count, type);
        Buffer all = new Buffer(buffer, offset, bytes);
        Algorithm algorithm = choose(CollectiveKind.BROADCAST, options, bytes);
        Algorithm planned = planned(algorithm, CollectiveKind.BROADCAST, bytes);
        Plan plan = AlgorithmPlans.broadcast(planned, shape(true, null), root, count, type.bytes());
        Call call = new Call(CollectiveKind.BROADCAST, planned, plan, all, all, type, null, root, count);
        return make(
                reads(algorithm, bytes) ? call.reading(MappedTask.broadcast(ranks.rank, root, bytes)) : call,
                options,
                callback);
    }

    @Override
    public C reduce(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback) {
        Objects.checkIndex(root, ranks.size);
        long bytes = bytes(count, type);
        Buffer from = new Buffer(source, sourceOffset, bytes);
        Buffer to = ranks.rank == root ? new Buffer(target, targetOffset, bytes) : from;
        boolean inPlace = from.isSameAs(to);
        checkApart(inPlace, from, to);
        Algorithm algorithm = choose(CollectiveKind.REDUCE, options, bytes);
        Plan plan = TreePlans.reduce(shape(inPlace, operation), root, bytes);
        Algorithm planned = planned(algorithm, CollectiveKind.REDUCE, bytes);
        Call call = new Call(CollectiveKind.REDUCE, planned, plan, from, to, type, operation, root, count);
        return make(
                reads(algorithm, bytes) ? call.reading(MappedTask.reduce(ranks.rank, root, bytes)) : call,
                options,
                callback);
    }

    @Override
    public C gather(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback) {
        long[] counts = equal(count);
        return gatherV(source, sourceOffset, target, targetOffset, counts, type, root, options, callback);
    }

    @Override
    public C gatherV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback) {
        Objects.checkIndex(root, ranks.size);
        Blocks blocks = blocks(counts, type);
        Buffer from = new Buffer(source, sourceOffset, blocks.length(ranks.rank));
        Buffer to = ranks.rank == root ? new Buffer(target, targetOffset, blocks.total()) : from;
        boolean inPlace = ranks.rank == root && from.isPartOf(to, blocks.start(root));
        if (ranks.rank == root) {
            checkApart(inPlace, from, to);
        }
        Algorithm algorithm = choose(CollectiveKind.GATHER, options, blocks.total());
        Algorithm planned = planned(algorithm, CollectiveKind.GATHER, blocks.total());
        Plan plan = DirectPlans.gather(shape(inPlace, null), root, blocks);
        Call call = new Call(
                CollectiveKind.GATHER,
                planned,
                plan,
                from,
                to,
                type,
                null,
                root,
                0,
                only(root, counts[ranks.rank]),
                ofRoot(root, counts));
        return make(
                reads(algorithm, blocks.total())
                        ? call.reading(MappedTask.gather(ranks.rank, ranks.size, root, blocks, inPlace))
                        : call,
                options,
                callback);
    }

    @Override
    public C scatter(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback) {
        long[] counts = equal(count);
        return scatterV(source, sourceOffset, target, targetOffset, counts, type, root, options, callback);
    }

    @Override
    public C scatterV(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long[] counts,
            ElementType type,
            int root,
            CollectiveOptions options,
            CollectiveCallback callback) {
        Objects.checkIndex(root, ranks.size);
        Blocks blocks = blocks(counts, type);
        Buffer to = new Buffer(target, targetOffset, blocks.length(ranks.rank));
        Buffer from = ranks.rank == root ? new Buffer(source, sourceOffset, blocks.total()) : to;
        boolean inPlace = ranks.rank == root && to.isPartOf(from, blocks.start(root));
        if (ranks.rank == root) {
            checkApart(inPlace, from, to);
        }
        Algorithm algorithm = choose(CollectiveKind.SCATTER, options, blocks.total());
        Algorithm planned = planned(algorithm, CollectiveKind.SCATTER, blocks.total());
        Plan plan = DirectPlans.scatter(shape(inPlace, null), root, blocks);
        Call call = new Call(
                CollectiveKind.SCATTER,
                planned,
                plan,
                from,
                to,
                type,
                null,
                root,
                0,
                ofRoot(root, counts),
                only(root, counts[ranks.rank]));
        return make(
                reads(algorithm, blocks.total())
                        ? call.reading(MappedTask.scatter(ranks.rank, root, blocks, inPlace))
                        : call,
                options,
                callback);
    }

    @Override
    public C allToAll(
            MemoryRegion source,
            long sourceOffset,
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            CollectiveOptions options,
            CollectiveCallback callback) {
        long[] counts = equal(count);
        Blocks blocks = Blocks.of(counts, type.bytes());
        Buffer from = new Buffer(source, sourceOffset, blocks.total());
        Buffer to = new Buffer(target, targetOffset, blocks.total());
        boolean inPlace = from.isSameAs(to);
        checkApart(inPlace, from, to);
        Algorithm algorithm = choose(CollectiveKind.ALL_TO_ALL, options, blocks.total());
        Algorithm planned = planned(algorithm, CollectiveKind.ALL_TO_ALL, blocks.total());
        Plan plan = AlgorithmPlans.allToAll(planned, shape(inPlace, null), blocks, blocks);
        Call call =
                new Call(CollectiveKind.ALL_TO_ALL, planned, plan, from, to, type, null, 0, 0, counts, counts.clone());
        return make(
                reads(algorithm, blocks.total())
                        ? call.reading(MappedTask.allToAll(ranks.rank, ranks.size, blocks.length(0), inPlace))
                        : call,
                options,
                callback);
    }

    @Override
    public C allToAllV(
            MemoryRegion source,
            long sourceOffset,
            long[] sourceCounts,
            MemoryRegion target,
            long targetOffset,
            long[] targetCounts,
            ElementType type,
            CollectiveOptions options,
            CollectiveCallback callback) {
        Blocks sent = blocks(sourceCounts, type);
        Blocks received = blocks(targetCounts, type);
        if (sourceCounts[ranks.rank] != targetCounts[ranks.rank]) {
            throw new IllegalArgumentException("a rank sends itself " + sourceCounts[ranks.rank]
                    + " elements and expects " + targetCounts[ranks.rank]);
        }
        Buffer from = new Buffer(source, sourceOffset, sent.total());
        Buffer to = new Buffer(target, targetOffset, received.total());
        checkApart(false, from, to);
        Algorithm algorithm = ofDifferentBlocks(options.algorithm());
        Algorithm planned = algorithm == Algorithm.MAPPED ? Algorithm.PAIRWISE : algorithm;
        Plan plan = AlgorithmPlans.allToAll(planned, shape(false, null), sent, received);
        Call call = new Call(
                CollectiveKind.ALL_TO_ALL,
                planned,
                plan,
                from,
                to,
                type,
                null,
                0,
                0,
                sourceCounts.clone(),
                targetCounts.clone());
        return make(
                reads(algorithm, Long.MAX_VALUE)
                        ? call.reading(MappedTask.allToAll(ranks.rank, ranks.size, sent, received))
                        : call,
                options,
                callback);
    }

    /** The lengths differ from rank to rank, so they cannot say which algorithm all ranks take. */
    private Algorithm ofDifferentBlocks(Algorithm asked) {
        if (asked == Algorithm.BRUCK) {
            throw new IllegalArgumentException(asked + " needs blocks of one length");
        }
        if (asked == Algorithm.AUTO) {
            Algorithm large = choose(CollectiveKind.ALL_TO_ALL, CollectiveOptions.defaults(), Long.MAX_VALUE);
            return large == Algorithm.MAPPED ? large : Algorithm.PAIRWISE;
        }
        return ranks.algorithms.choose(asked, CollectiveKind.ALL_TO_ALL, ranks.transport, ranks.size, 0);
    }

    @Override
    public C barrier(CollectiveOptions options, CollectiveCallback callback) {
        Algorithm algorithm = choose(CollectiveKind.BARRIER, options, 0);
        Plan plan = DoublingPlans.barrier(shape(false, null));
        return make(
                new Call(CollectiveKind.BARRIER, algorithm, plan, null, null, ElementType.INT8, null, 0, 0),
                options,
                callback);
    }

    private Algorithm choose(CollectiveKind kind, CollectiveOptions options, long bytes) {
        return ranks.algorithms.choose(options.algorithm(), kind, ranks.transport, ranks.size, bytes);
    }

    /** The algorithm of the plan, which counts where the ranks cannot read each other's memory. */
    private Algorithm planned(Algorithm chosen, CollectiveKind kind, long bytes) {
        return chosen == Algorithm.MAPPED
                ? ranks.algorithms.chooseUnmapped(kind, ranks.transport, ranks.size, bytes)
                : chosen;
    }

    private boolean reads(Algorithm chosen, long bytes) {
        return chosen == Algorithm.MAPPED && bytes > 0 && ranks.size > 1;
    }

    private Shape shape(boolean inPlace, @Nullable ReduceOperation operation) {
        return new Shape(ranks.rank, ranks.size, ranks.chunkBytes, inPlace, operation == ReduceOperation.AVERAGE);
    }

    static long bytes(long count, ElementType type) {
        if (count < 0) {
            throw new IllegalArgumentException("a count is 0 or more, not " + count);
        }
        try {
            return Math.multiplyExact(count, type.bytes());
        } catch (ArithmeticException e) {
            throw new IndexOutOfBoundsException(count + " elements of " + type + " are more than any region holds");
        }
    }

    private Blocks blocks(long[] counts, ElementType type) {
        if (counts.length != ranks.size) {
            throw new IllegalArgumentException("there are " + ranks.size + " ranks and " + counts.length + " counts");
        }
        for (long count : counts) {
            bytes(count, type);
        }
        return Blocks.of(counts, type.bytes());
    }

    private long[] equal(long count) {
        if (count < 0) {
            throw new IllegalArgumentException("a count is 0 or more, not " + count);
        }
        long[] counts = new long[ranks.size];
        Arrays.fill(counts, count);
        return counts;
    }

    /** What the root sends or receives; the others send and receive nothing that way. */
    private long[] ofRoot(int root, long[] counts) {
        return ranks.rank == root ? counts.clone() : new long[ranks.size];
    }

    private long[] only(int rank, long count) {
        long[] counts = new long[ranks.size];
        counts[rank] = count;
        return counts;
    }

    /** A number that differs, almost surely, if any of the counts does. */
    private static long sum(long[] counts) {
        long sum = 0;
        for (long count : counts) {
            sum = (sum + count) * 0x9E3779B97F4A7C15L;
        }
        return sum;
    }

    private static void checkApart(boolean inPlace, Buffer from, Buffer to) {
        if (!inPlace && from.overlaps(to)) {
            throw new IllegalArgumentException("source and target overlap");
        }
    }
}
