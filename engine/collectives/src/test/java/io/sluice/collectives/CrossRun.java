package io.sluice.collectives;

import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/** Calls a cross on all ranks, and compares all that it has written, and what is around it, with a reference. */
final class CrossRun implements AutoCloseable {
    private static final byte POISON = 0x5A;
    // after the target; before it there are as many as the offset says
    private static final int GUARD = 96;

    private final Ranks ranks;
    private final Cross cross;
    private final int bytes;
    private final Arena arena = Arena.ofShared();
    private final List<Buffers> all = new ArrayList<>();
    private final List<MemorySegment> sources = new ArrayList<>();
    private final List<PersistentCollective> prepared = new ArrayList<>();
    // of the first run, by rank
    private final List<MemorySegment> results = new ArrayList<>();

    /** What a rank has. */
    private record Buffers(
            MemoryRegion source,
            long sourceAt,
            long sourceBytes,
            MemoryRegion target,
            long targetAt,
            long targetBytes) {}

    CrossRun(Ranks ranks, Cross cross) {
        this.ranks = ranks;
        this.cross = cross;
        this.bytes = cross.type().bytes();
        SplittableRandom random = new SplittableRandom(cross.seed());
        for (int rank = 0; rank < cross.size(); rank++) {
            all.add(buffers(rank));
            MemorySegment elements = arena.allocate(Math.max(1, all.get(rank).sourceBytes));
            elements = elements.asSlice(0, all.get(rank).sourceBytes);
            Elements.fill(elements, cross.type(), cross.exact(), random.split());
            sources.add(elements);
        }
        if (cross.persistent() && cross.called() != Cross.Called.SEND_AND_RECEIVE) {
            for (int rank = 0; rank < cross.size(); rank++) {
                prepared.add(call(ranks.team(rank).prepare(), rank, (called, error) -> {}));
            }
        }
    }

    private Buffers buffers(int rank) {
        long offset = cross.offset();
        long sourceBytes = cross.sourceCount(rank) * bytes;
        long targetBytes = cross.targetCount(rank) * bytes;
        if (cross.inPlaceOn(rank)) {
            MemoryRegion both = ranks.region(rank, offset + Math.max(sourceBytes, targetBytes) + GUARD);
            return new Buffers(
                    both,
                    offset + cross.sourceInPlace(rank) * bytes,
                    sourceBytes,
                    both,
                    offset + cross.targetInPlace(rank) * bytes,
                    targetBytes);
        }
        return new Buffers(
                ranks.region(rank, offset + sourceBytes + GUARD),
                offset,
                sourceBytes,
                ranks.region(rank, offset + targetBytes + GUARD),
                offset,
                targetBytes);
    }

    /**
     * Runs it twice, if it is persistent three times, and checks each run. If its algorithm does not serve the number of
     * ranks or different blocks, the automatic one runs.
     */
    static void runAndCheck(Ranks ranks, Cross cross) {
        try {
            runAsItIs(ranks, cross);
        } catch (IllegalArgumentException doesNotServe) {
            if (cross.algorithm() == Algorithm.AUTO) {
                throw new AssertionError(cross + ": " + doesNotServe, doesNotServe);
            }
            runAndCheck(ranks, cross.automatic());
        }
    }

    private static void runAsItIs(Ranks ranks, Cross cross) {
        try (CrossRun run = new CrossRun(ranks, cross)) {
            for (int i = 0; i < (cross.persistent() ? 3 : 2); i++) {
                Patience.awaitAll(cross.toString(), run.start());
                run.check();
            }
        } catch (SluiceException e) {
            throw new AssertionError(cross + ": " + e, e);
        }
    }

    /** Poisons the targets and calls it on all ranks. */
    List<CompletableFuture<Void>> start() {
        for (int rank = 0; rank < cross.size(); rank++) {
            Buffers buffers = all.get(rank);
            buffers.target.segment().fill(POISON);
            if (!cross.inPlaceOn(rank)) {
                long end = buffers.sourceAt + buffers.sourceBytes;
                buffers.source.segment().asSlice(0, buffers.sourceAt).fill(POISON);
                buffers.source.segment().asSlice(end).fill(POISON);
            }
            MemorySegment.copy(sources.get(rank), 0, buffers.source.segment(), buffers.sourceAt, buffers.sourceBytes);
        }
        return ranks.startEach((rank, team, callback) -> {
            if (cross.called() == Cross.Called.SEND_AND_RECEIVE) {
                sendAndReceive(rank, team, callback);
            } else if (cross.persistent()) {
                prepared.get(rank).start(callback);
            } else {
                call(team, rank, callback);
            }
        });
    }

    /** To the next rank, and from the one before; ends when both have. */
    private void sendAndReceive(int rank, Team team, CollectiveCallback callback) {
        Buffers buffers = all.get(rank);
        int[] open = {2};
        CollectiveCallback both = (called, error) -> {
            // on the loop of the team
            if (error != null || --open[0] == 0) {
                open[0] = 3;
                callback.ended(called, error);
            }
        };
        int size = cross.size();
        CollectiveOptions options = CollectiveOptions.defaults();
        int tag = (int) cross.seed();
        team.receive(
                buffers.target,
                buffers.targetAt,
                cross.count(),
                cross.type(),
                (rank + size - 1) % size,
                tag,
                options,
                both);
        team.send(buffers.source, buffers.sourceAt, cross.count(), cross.type(), (rank + 1) % size, tag, options, both);
    }

    private <C extends Collective> C call(CollectiveOperations<C> team, int rank, CollectiveCallback callback) {
        MemoryRegion source = all.get(rank).source;
        MemoryRegion target = all.get(rank).target;
        long from = all.get(rank).sourceAt;
        long to = all.get(rank).targetAt;
        long count = cross.count();
        ElementType type = cross.type();
        int root = cross.root();
        CollectiveOptions options = CollectiveOptions.defaults().withAlgorithm(cross.algorithm());
        return switch (cross.called()) {
            case ALL_REDUCE -> team.allReduce(source, from, target, to, count, type, operation(), options, callback);
            case REDUCE_SCATTER ->
                team.reduceScatter(source, from, target, to, count, type, operation(), options, callback);
            case REDUCE_SCATTER_V ->
                team.reduceScatterV(source, from, target, to, cross.blocks(), type, operation(), options, callback);
            case REDUCE -> team.reduce(source, from, target, to, count, type, operation(), root, options, callback);
            case ALL_GATHER -> team.allGather(source, from, target, to, count, type, options, callback);
            case ALL_GATHER_V -> team.allGatherV(source, from, target, to, cross.blocks(), type, options, callback);
            case BROADCAST -> team.broadcast(target, to, count, type, root, options, callback);
            case GATHER -> team.gather(source, from, target, to, count, type, root, options, callback);
            case GATHER_V -> team.gatherV(source, from, target, to, cross.blocks(), type, root, options, callback);
            case SCATTER -> team.scatter(source, from, target, to, count, type, root, options, callback);
            case SCATTER_V -> team.scatterV(source, from, target, to, cross.blocks(), type, root, options, callback);
            case ALL_TO_ALL -> team.allToAll(source, from, target, to, count, type, options, callback);
            case ALL_TO_ALL_V ->
                team.allToAllV(
                        source, from, cross.sentBy(rank), target, to, cross.receivedBy(rank), type, options, callback);
            case SEND_AND_RECEIVE -> throw new IllegalArgumentException("not a collective");
        };
    }

    private ReduceOperation operation() {
        return Objects.requireNonNull(cross.operation());
    }

    /** Checks what all ranks have after a run, and that a later run gives the bits of the first. */
    void check() {
        boolean again = !results.isEmpty();
        for (int rank = 0; rank < cross.size(); rank++) {
            Buffers buffers = all.get(rank);
            checkAround(rank, buffers);
            MemorySegment target = buffers.target.segment().asSlice(buffers.targetAt, buffers.targetBytes);
            if (again) {
                checkSame("another run on rank " + rank, target, results.get(rank));
                continue;
            }
            if (!cross.called().reduces()) {
                checkPieces(rank, target);
            } else if (cross.called() == Cross.Called.ALL_REDUCE && rank > 0) {
                checkSame("rank " + rank + " and rank 0", target, results.getFirst());
            } else {
                Elements.checkReduction(
                        cross + " on rank " + rank,
                        sources,
                        cross.type(),
                        operation(),
                        cross.exact(),
                        cross.firstReduced(rank),
                        target,
                        0,
                        cross.targetCount(rank));
            }
            MemorySegment result = arena.allocate(Math.max(1, target.byteSize()));
            results.add(result.copyFrom(target).asSlice(0, target.byteSize()));
        }
    }

    private void checkPieces(int rank, MemorySegment target) {
        for (Cross.Piece piece : cross.pieces(rank)) {
            MemorySegment part = target.asSlice(piece.targetPlace() * bytes, piece.count() * bytes);
            MemorySegment from = sources.get(piece.rank()).asSlice(piece.sourcePlace() * bytes, piece.count() * bytes);
            checkSame("rank " + rank + " and what rank " + piece.rank() + " has for it", part, from);
        }
    }

    private void checkSame(String what, MemorySegment found, MemorySegment expected) {
        long first = found.mismatch(expected);
        if (first >= 0) {
            fail("%s: %s differ from byte %d of %d on", cross, what, first, expected.byteSize());
        }
    }

    /** Sources are as they were, and so is what lies around them and the targets. */
    private void checkAround(int rank, Buffers buffers) {
        MemorySegment source = buffers.source.segment();
        MemorySegment target = buffers.target.segment();
        long targetEnd = buffers.targetAt + buffers.targetBytes;
        long sourceEnd = buffers.sourceAt + buffers.sourceBytes;
        String what = "the source of rank " + rank + " before and after";
        if (cross.inPlaceOn(rank)) {
            long begin = Math.min(buffers.sourceAt, buffers.targetAt);
            checkPoison(rank, target, 0, begin);
            checkPoison(rank, target, Math.max(sourceEnd, targetEnd), target.byteSize());
            if (buffers.sourceAt < buffers.targetAt) {
                long length = buffers.targetAt - buffers.sourceAt;
                checkSame(
                        what,
                        source.asSlice(buffers.sourceAt, length),
                        sources.get(rank).asSlice(0, length));
            }
            if (targetEnd < sourceEnd) {
                checkSame(
                        what,
                        source.asSlice(targetEnd, sourceEnd - targetEnd),
                        sources.get(rank).asSlice(targetEnd - buffers.sourceAt, sourceEnd - targetEnd));
            }
            return;
        }
        checkPoison(rank, target, 0, buffers.targetAt);
        checkPoison(rank, target, targetEnd, target.byteSize());
        checkPoison(rank, source, 0, buffers.sourceAt);
        checkSame(what, source.asSlice(buffers.sourceAt, buffers.sourceBytes), sources.get(rank));
        checkPoison(rank, source, sourceEnd, source.byteSize());
    }

    private void checkPoison(int rank, MemorySegment memory, long from, long to) {
        for (long at = from; at < to; at++) {
            if (memory.get(ValueLayout.JAVA_BYTE, at) != POISON) {
                fail("%s: byte %d of %d around a buffer of rank %d was written", cross, at, memory.byteSize(), rank);
            }
        }
    }

    /** The bits that the first run has given a rank. */
    MemorySegment result(int rank) {
        return results.get(rank);
    }

    @Override
    public void close() {
        prepared.forEach(PersistentCollective::close);
        for (Buffers buffers : all) {
            buffers.source.close();
            if (!buffers.target.equals(buffers.source)) {
                buffers.target.close();
            }
        }
        arena.close();
    }

    /** For messages. */
    @Override
    public String toString() {
        return cross.toString();
    }
}
