package io.sluice.collectives.cuda;

import io.sluice.collectives.CollectiveKind;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.Team;
import io.sluice.cuda.GpuClosedException;
import io.sluice.cuda.GpuGraph;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuWork;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs of a team's ranks, one for each, that call collectives together:
 *
 * <pre>{@code
 * GpuTeam gpus = GpuTeam.form(team, gpu, GpuTeamOptions.defaults()).join();
 * TeamRegion gradients = gpus.share(region).join();
 * GpuCollective sum = gpus.allReduce(gradients, 0, gradients, 0, count, ElementType.BFLOAT16, ReduceOperation.SUM);
 * gpus.onReached((wait, number, error) -> …).arm(sum.start());
 * }</pre>
 *
 * <p>All ranks are on one host, and their GPUs reach each other's memory over NVLink or PCIe. A collective is prepared, then started any
 * number of times: it runs in the team's {@linkplain #stream() stream}, behind what the stream has, and neither allocates nor waits. All
 * ranks start the same collectives in the same order. Regions have the same offsets on all ranks.
 *
 * <p>Elements are reduced in the order of the ranks, floats of 16 bits in float32, rounded once: all ranks get the same bits, in every
 * run.
 *
 * <p>A kernel waits for the other ranks no longer than the {@linkplain GpuTeamOptions#timeout() time-out}. When one does not come, is
 * lost, or starts another collective, the team is revoked: all later collectives of all ranks end with an error, and the results of those
 * under way are undefined. Other ranks may still write to a region here then, until {@link MemoryRegion#close()} of it has completed.
 * Kernels that wait take multiprocessors: two teams whose kernels fill a GPU may hold up each other.
 *
 * <p>Any thread, but one at a time starts collectives.
 */
public final class GpuTeam {
    private final Team team;
    private final GpuStream stream;
    private final boolean ownsStream;
    private final TeamKernels kernels;
    private final TeamWords words;
    private final MemoryRegion scratch;
    private final TeamRegion scratches;
    private final Launches launches;
    private final GpuTeamCounters counters;
    private final Set<GpuCollectiveGraph> graphs = ConcurrentHashMap.newKeySet();
    private int sharedRegions;
    private @Nullable CompletableFuture<Void> closed;

    GpuTeam(
            Team team,
            GpuStream stream,
            boolean ownsStream,
            TeamKernels kernels,
            TeamWords words,
            MemoryRegion scratch,
            TeamRegion scratches,
            Launches launches) {
        this.team = team;
        this.stream = stream;
        this.ownsStream = ownsStream;
        this.kernels = kernels;
        this.words = words;
        this.scratch = scratch;
        this.scratches = scratches;
        this.launches = launches;
        this.counters = new GpuTeamCounters(team, stream, words);
    }

    /**
     * Forms the GPU team, with a stream of its own. A collective of the team's: all ranks call it in the same order as others. Not for a
     * poller: the driver takes milliseconds.
     *
     * @param team of ranks whose engines have the transport {@code cuda}
     * @param gpu the stable id of this rank's GPU, such as {@code GPU-8c7a1d2e-…}
     * @param options the same on all ranks
     * @return the GPU team; on all ranks an error if one has none: {@link io.sluice.engine.MemoryNotAccessibleException} if a GPU does
     *     not reach another's memory, {@link io.sluice.collectives.CollectiveMismatchException} if options differ, an error of the
     *     team's or of the driver
     * @throws IllegalArgumentException if the team has more than 64 ranks
     */
    public static CompletableFuture<GpuTeam> form(Team team, String gpu, GpuTeamOptions options) {
        return GpuTeamFormation.form(team, Objects.requireNonNull(gpu, "gpu"), null, options);
    }

    /**
     * Forms the GPU team with a stream of the caller's, whose earlier work its collectives follow.
     *
     * @param team of ranks whose engines have the transport {@code cuda}
     * @param stream of this rank's GPU; stays open when the GPU team closes
     * @param options the same on all ranks
     * @return as {@link #form(Team, String, GpuTeamOptions)}
     * @throws IllegalArgumentException if the team has more than 64 ranks
     */
    public static CompletableFuture<GpuTeam> form(Team team, GpuStream stream, GpuTeamOptions options) {
        return GpuTeamFormation.form(team, stream.device(), stream, options);
    }

    /**
     * Returns the team of the ranks.
     *
     * @return as given
     */
    public Team team() {
        return team;
    }

    /**
     * Returns the stream in which collectives run. Order other work with them by giving it to this stream, or by the driver's events.
     *
     * @return the stream
     */
    public GpuStream stream() {
        return stream;
    }

    /**
     * Returns what the team counts on this rank.
     *
     * @return always the same object; usable after the team is closed
     */
    public GpuTeamMetrics metrics() {
        return counters;
    }

    GpuTeamCounters counters() {
        return counters;
    }

    /**
     * Shares a region of each rank, for collectives. A collective of the team's: all ranks call it in the same order as others.
     *
     * @param region memory of this rank's GPU, with the rights to read and write; its length may differ from those of others
     * @return the regions, mapped for all GPUs; else, on all ranks, an error as from {@link #form}
     * @throws io.sluice.engine.MemoryNotAccessibleException if it is not memory of this rank's GPU
     */
    public CompletableFuture<TeamRegion> share(MemoryRegion region) {
        GpuTeamFormation.check(region, stream.device());
        ensureUsable();
        return RegionMapping.map(
                team,
                stream.device(),
                CompletableFuture.completedFuture(region),
                CompletableFuture.completedFuture(null),
                RegionMapping.NONE,
                nextNumber());
    }

    private synchronized int nextNumber() {
        return ++sharedRegions;
    }

    /**
     * Returns a wait for collectives, which allocates nothing for each arming.
     *
     * @param callback called on the team's loop once for each arming, with the number that was reached; or with an error if this or a
     *     later collective that was started has failed: {@link io.sluice.collectives.RankFailedException}, {@link
     *     io.sluice.collectives.CollectiveTimeoutException}, {@link io.sluice.collectives.CollectiveMismatchException} or {@link
     *     io.sluice.collectives.TeamRevokedException}; or one of {@link GpuStream#onReached}
     * @return the wait, not armed
     */
    public SignalWait onReached(SignalCallback callback) {
        return stream.onReached(team.loop(), (wait, number, error) -> {
            SluiceException failure = error == null ? words.failure() : error;
            callback.reached(wait, failure == null ? number : 0, failure);
        });
    }

    void ensureUsable() {
        SluiceException failure = words.failure();
        if (failure != null) {
            throw failure;
        }
    }

    /** Gives a collective's work to the stream, and returns its number. Allocates nothing. */
    long submit(GpuWork work, boolean isNumbered) {
        ensureUsable();
        try {
            return isNumbered ? work.submit() : work.submitUnnumbered();
        } catch (GpuClosedException e) {
            throw refused(e);
        }
    }

    /** Gives a graph of collectives to the stream, and returns its number. */
    long submit(GpuGraph graph, boolean isNumbered) {
        ensureUsable();
        try {
            return isNumbered ? graph.submit() : graph.submitUnnumbered();
        } catch (GpuClosedException e) {
            throw refused(e);
        }
    }

    /** Returns why a start was refused: the end of a connection takes regions away before the team has its error. */
    private SluiceException refused(GpuClosedException e) {
        for (int rank = 0; rank < team.size() && !isClosed(); rank++) {
            if (scratches.isLost(rank)) {
                return words.lost(rank, e);
            }
        }
        return e;
    }

    /**
     * Prepares an all-reduce: every rank gets the reduction of all ranks' elements.
     *
     * @param source this rank's elements
     * @param sourceOffset where they begin, in bytes
     * @param target for the result; may be the source, at the same offset
     * @param targetOffset where it begins, in bytes
     * @param count elements of each rank, 0 or more
     * @param type of the elements
     * @param operation how they are reduced
     * @return the collective
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws IllegalArgumentException if ranges overlap and are not the same, the count is negative, elements do not lie at multiples of
     *     their length, or a region was shared by another team
     */
    public GpuCollective allReduce(
            TeamRegion source,
            long sourceOffset,
            TeamRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation) {
        return launches.reduce(
                CollectiveKind.ALL_REDUCE,
                this,
                source,
                sourceOffset,
                target,
                targetOffset,
                count,
                type,
                operation,
                -1);
    }

    /**
     * Prepares a reduction whose result one rank gets.
     *
     * @param source this rank's elements
     * @param sourceOffset where they begin, in bytes
     * @param target for the result, on the root; may be the source, at the same offset
     * @param targetOffset where it begins, in bytes
     * @param count elements of each rank, 0 or more
     * @param type of the elements
     * @param operation how they are reduced
     * @param root the rank that gets the result
     * @return the collective
     * @throws IndexOutOfBoundsException if a range leaves its region, or there is no such rank
     * @throws IllegalArgumentException as for {@link #allReduce}
     */
    public GpuCollective reduce(
            TeamRegion source,
            long sourceOffset,
            TeamRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation,
            int root) {
        Objects.checkIndex(root, team.size());
        return launches.reduce(
                CollectiveKind.REDUCE, this, source, sourceOffset, target, targetOffset, count, type, operation, root);
    }

    /**
     * Prepares a reduction of which each rank gets one block.
     *
     * @param source this rank's elements: a block for each rank
     * @param sourceOffset where they begin, in bytes
     * @param target for this rank's block of the result, apart from the source
     * @param targetOffset where it begins, in bytes
     * @param count elements of a block, 0 or more
     * @param type of the elements
     * @param operation how they are reduced
     * @return the collective
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws IllegalArgumentException as for {@link #allReduce}
     */
    public GpuCollective reduceScatter(
            TeamRegion source,
            long sourceOffset,
            TeamRegion target,
            long targetOffset,
            long count,
            ElementType type,
            ReduceOperation operation) {
        return launches.reduce(
                CollectiveKind.REDUCE_SCATTER,
                this,
                source,
                sourceOffset,
                target,
                targetOffset,
                count,
                type,
                operation,
                -1);
    }

    /**
     * Prepares an all-gather: every rank gets the blocks of all ranks.
     *
     * @param source this rank's block
     * @param sourceOffset where it begins, in bytes
     * @param target for a block of each rank; this rank's may be the source
     * @param targetOffset where they begin, in bytes
     * @param bytes of a block, 0 or more
     * @return the collective
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws IllegalArgumentException if ranges overlap otherwise, or the length is negative
     */
    public GpuCollective allGather(
            TeamRegion source, long sourceOffset, TeamRegion target, long targetOffset, long bytes) {
        return launches.copy(CollectiveKind.ALL_GATHER, this, source, sourceOffset, target, targetOffset, bytes, -1);
    }

    /**
     * Prepares an all-to-all: each rank gets one block from every rank.
     *
     * @param source a block for each rank
     * @param sourceOffset where they begin, in bytes
     * @param target for a block from each rank, apart from the source
     * @param targetOffset where they begin, in bytes
     * @param bytes of a block, 0 or more
     * @return the collective
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws IllegalArgumentException if ranges overlap, or the length is negative
     */
    public GpuCollective allToAll(
            TeamRegion source, long sourceOffset, TeamRegion target, long targetOffset, long bytes) {
        return launches.copy(CollectiveKind.ALL_TO_ALL, this, source, sourceOffset, target, targetOffset, bytes, -1);
    }

    /**
     * Prepares a broadcast: every rank gets the root's bytes.
     *
     * @param source the root's bytes
     * @param sourceOffset where they begin, in bytes
     * @param target for the bytes, also on the root; may be the source, at the same offset
     * @param targetOffset where they begin, in bytes
     * @param bytes how many, 0 or more
     * @param root the rank whose bytes they are
     * @return the collective
     * @throws IndexOutOfBoundsException if a range leaves its region, or there is no such rank
     * @throws IllegalArgumentException if ranges overlap and are not the same, or the length is negative
     */
    public GpuCollective broadcast(
            TeamRegion source, long sourceOffset, TeamRegion target, long targetOffset, long bytes, int root) {
        Objects.checkIndex(root, team.size());
        return launches.copy(CollectiveKind.BROADCAST, this, source, sourceOffset, target, targetOffset, bytes, root);
    }

    /**
     * Prepares a barrier: what follows it in a rank's stream begins after all ranks have come to it.
     *
     * @return the collective
     */
    public GpuCollective barrier() {
        return launches.barrier(this);
    }

    /**
     * Makes a CUDA graph of prepared collectives. Not for a poller: the driver takes tens of microseconds and more. What each of them
     * reads and writes is that of its preparation.
     *
     * @param collectives in their order; one may be there several times, as of {@code Collections.nCopies(20, sum)}
     * @return the graph; the team closes it when it is closed itself
     * @throws IllegalArgumentException if there are none, or one is of another team
     * @throws SluiceException the team's error, if it has ended
     * @throws io.sluice.cuda.GpuClosedException if the team or one of the regions is closed here
     * @throws io.sluice.cuda.CudaException if the driver refuses it
     */
    public GpuCollectiveGraph graph(List<GpuCollective> collectives) {
        List<GpuCollective> all = List.copyOf(collectives);
        for (GpuCollective each : all) {
            if (each.team() != this) {
                throw new IllegalArgumentException("a graph of " + this + " has no collective of " + each.team());
            }
        }
        ensureUsable();
        GpuCollectiveGraph made = new GpuCollectiveGraph(
                this,
                GpuGraph.of(all.stream().map(GpuCollective::work).toList()),
                all.size(),
                GpuTeamCounters.graph(all.stream().map(GpuCollective::tally).toList()));
        graphs.add(made);
        if (isClosed()) {
            made.close();
        }
        return made;
    }

    private synchronized boolean isClosed() {
        return closed != null;
    }

    void forget(GpuCollectiveGraph graph) {
        graphs.remove(graph);
    }

    /**
     * Refuses further collectives, and gives memory and stream back once those that were started are done. The team stays open, and so
     * do shared regions.
     *
     * @return completes when nothing of it is left here; a second call has the same result
     */
    public synchronized CompletableFuture<Void> closeAsync() {
        CompletableFuture<Void> closing = closed;
        if (closing == null) {
            List<CompletableFuture<?>> parts = new ArrayList<>();
            // their kernels are of the team's module
            graphs.forEach(graph -> parts.add(graph.closeAsync()));
            if (ownsStream) {
                stream.close();
                parts.add(stream.released());
            }
            words.buffer().close();
            parts.add(words.buffer().released());
            parts.add(kernels.close());
            // each is given back, also if another cannot be
            parts.add(scratches
                    .closeAsync()
                    .handle((detached, failed) -> scratch.close())
                    .thenCompose(released -> released));
            closing = CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new));
            closed = closing;
        }
        return closing.copy();
    }

    @Override
    public String toString() {
        return "the GPU team of " + team + " on " + stream.device();
    }
}
