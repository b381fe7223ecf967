package io.sluice.collectives;

import io.sluice.collectives.run.TeamLoop;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A team that was formed. */
final class DefaultTeam extends CheckedCollectives<Collective> implements Team {
    private final TeamOptions options;
    private final TeamLoop loop;
    private final CalledCollective.Parts parts;
    private final PreparedCollectives prepared;
    private final Members members;
    private final Peers peers;
    private final Supplier<CompletableFuture<Void>> release;
    private final TeamMetrics metrics;
    private final AtomicLong splits = new AtomicLong();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    /**
     * Who the ranks are.
     *
     * @param addresses by rank
     * @param id tells the team from others of its name
     */
    record Members(TransferEngine engine, List<EngineAddress> addresses, long id, long epoch) {}

    /**
     * How this rank reaches the others.
     *
     * @param regions of the other ranks; null for this one
     */
    record Peers(EngineLoop loop, @Nullable RemoteRegion[] regions) {
        Connection connection(int rank) {
            return Objects.requireNonNull(regions[rank]).connection();
        }
    }

    private record Part(int rank, int color, int key) {}

    /**
     * Creates a team.
     *
     * @param release closes connections and regions, once nothing runs any more
     */
    DefaultTeam(
            TeamOptions options,
            Ranks ranks,
            CalledCollective.Parts parts,
            int channels,
            Members members,
            Peers peers,
            Supplier<CompletableFuture<Void>> release) {
        super(ranks);
        this.options = options;
        this.parts = parts;
        this.loop = parts.loop();
        this.prepared = new PreparedCollectives(ranks, parts, channels);
        this.members = members;
        this.peers = peers;
        this.release = release;
        this.metrics = new CountedTeam(members.engine.metrics().engine(), this, parts.figures());
    }

    @Override
    Collective make(Call call, CollectiveOptions callOptions, CollectiveCallback callback) {
        CalledCollective collective = new CalledCollective(parts, call, callOptions, callback, -1);
        collective.run(callback);
        return collective;
    }

    @Override
    public Collective send(
            MemoryRegion source,
            long sourceOffset,
            long count,
            ElementType type,
            int peer,
            int tag,
            CollectiveOptions callOptions,
            CollectiveCallback callback) {
        return move(CollectiveKind.SEND, source, sourceOffset, count, type, peer, tag, callOptions, callback);
    }

    @Override
    public Collective receive(
            MemoryRegion target,
            long targetOffset,
            long count,
            ElementType type,
            int peer,
            int tag,
            CollectiveOptions callOptions,
            CollectiveCallback callback) {
        return move(CollectiveKind.RECEIVE, target, targetOffset, count, type, peer, tag, callOptions, callback);
    }

    private Collective move(
            CollectiveKind kind,
            MemoryRegion region,
            long offset,
            long count,
            ElementType type,
            int peer,
            int tag,
            CollectiveOptions callOptions,
            CollectiveCallback callback) {
        Objects.checkIndex(peer, size());
        if (peer == rank() || callOptions.algorithm() != Algorithm.AUTO) {
            throw new IllegalArgumentException("a rank sends to and receives from others, with no algorithm");
        }
        Buffer buffer = new Buffer(region, offset, bytes(count, type));
        return new Movement(parts, kind, buffer, type, peer, tag, callOptions, callback).call();
    }

    @Override
    public int rank() {
        return options.rank();
    }

    @Override
    public int size() {
        return options.size();
    }

    @Override
    public String name() {
        return options.name();
    }

    @Override
    public Set<Integer> failed() {
        return Collections.unmodifiableSet(loop.failed());
    }

    @Override
    public void whenFailed(IntConsumer listener) {
        try {
            peers.loop.execute(() -> loop.failed().listen(listener));
        } catch (SluiceException engineIsClosed) {
            // it knows of no more
        }
    }

    @Override
    public long epoch() {
        return members.epoch;
    }

    @Override
    public TransferEngine engine() {
        return members.engine;
    }

    @Override
    public EngineLoop loop() {
        return peers.loop;
    }

    @Override
    public CompletionStage<Void> ended() {
        return loop.ended();
    }

    @Override
    public CompletableFuture<SharedRegion> share(MemoryRegion region) {
        return RegionSharing.share(this, peers::connection, parts.work(), region);
    }

    @Override
    public TeamMetrics metrics() {
        return metrics;
    }

    @Override
    public CollectiveOperations<PersistentCollective> prepare() {
        return prepared;
    }

    @Override
    public CompletableFuture<Void> revoke() {
        return loop.revoke();
    }

    @Override
    public CompletableFuture<Team> shrink() {
        return loop.agree()
                .orTimeout(options.formTimeout().toNanos(), TimeUnit.NANOSECONDS)
                .exceptionally(error -> {
                    throw error instanceof TimeoutException
                            ? new CollectiveTimeoutException("the survivors of " + this + " do not all shrink it")
                            : new CompletionException(error);
                })
                .thenComposeAsync(failed -> {
                    List<Integer> survivors = IntStream.range(0, size())
                            .filter(rank -> !failed.contains(rank))
                            .boxed()
                            .toList();
                    if (!survivors.contains(rank())) {
                        throw new RankFailedException(
                                "the other ranks of " + this + " take this one for failed", failed, null);
                    }
                    return form(survivors, mix(members.id, members.epoch + 1, 0), members.epoch + 1);
                })
                .whenComplete((team, error) -> {
                    if (team != null) {
                        closeAsync();
                    }
                });
    }

    @Override
    public CompletableFuture<Team> split(int color, int key) {
        MemoryRegion region = parts.work().take((size() + 1L) * 2 * Integer.BYTES);
        region.segment().setAtIndex(ValueLayout.JAVA_INT, 0, color);
        region.segment().setAtIndex(ValueLayout.JAVA_INT, 1, key);
        CompletableFuture<List<Part>> gathered = new CompletableFuture<>();
        long number = splits.getAndIncrement();
        allGather(
                region,
                0,
                region,
                2L * Integer.BYTES,
                2,
                ElementType.INT32,
                CollectiveOptions.defaults(),
                (called, error) -> {
                    if (error == null) {
                        gathered.complete(parts(region.segment()));
                    } else {
                        gathered.completeExceptionally(error);
                    }
                    parts.work().give(region);
                });
        return gathered.thenComposeAsync(all -> {
            List<Integer> together = all.stream()
                    .filter(part -> part.color == color)
                    .sorted(Comparator.comparingInt(Part::key).thenComparingInt(Part::rank))
                    .map(Part::rank)
                    .toList();
            return form(together, mix(members.id, number, color), 0);
        });
    }

    private List<Part> parts(MemorySegment gathered) {
        return IntStream.range(0, size())
                .mapToObj(rank -> new Part(
                        rank,
                        gathered.getAtIndex(ValueLayout.JAVA_INT, 2L * rank + 2),
                        gathered.getAtIndex(ValueLayout.JAVA_INT, 2L * rank + 3)))
                .toList();
    }

    /** Forms a team of some ranks, in this order. */
    private CompletableFuture<Team> form(List<Integer> ranks, long id, long epoch) {
        List<EngineAddress> addresses =
                ranks.stream().map(members.addresses::get).toList();
        return TeamFormation.join(
                options.at(ranks.indexOf(rank()), ranks.size()), new Members(members.engine, addresses, id, epoch));
    }

    /** A number that all members compute alike, and others almost surely do not. */
    private static long mix(long id, long number, long other) {
        long mixed = (id ^ (number + 1) * 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 31 ^ other) * 0x94D049BB133111EBL;
        return mixed ^ mixed >>> 29;
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        if (closing.compareAndSet(false, true)) {
            loop.close().thenCompose(nothing -> release.get()).whenComplete((nothing, error) -> closed.complete(null));
        }
        return closed.copy();
    }

    @Override
    public String toString() {
        return "team '" + options.name() + "', rank " + options.rank() + " of " + options.size();
    }
}
