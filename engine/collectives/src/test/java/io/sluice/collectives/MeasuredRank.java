package io.sluice.collectives;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A rank in a process of its own that measures collectives: each call comes from the callback of the one before. Started by
 * hand, once for each rank, with the transport, the rank, the number of ranks, a file for the address, the kind, the
 * algorithm, and the sizes in bytes.
 */
final class MeasuredRank implements CollectiveCallback {
    private static final long WARM_UP_NANOS = 1_200_000_000L;
    private static final long NANOS = 2_000_000_000L;

    private final CompletableFuture<Long> ended = new CompletableFuture<>();
    private final long rounds;
    private final @Nullable PersistentCollective persistent;
    private final long begun = System.nanoTime();
    private long round;

    private MeasuredRank(PersistentCollective persistent, long rounds) {
        this.persistent = persistent;
        this.rounds = rounds;
    }

    @Override
    public void ended(Collective collective, @Nullable SluiceException error) {
        PersistentCollective next = persistent;
        if (error != null || next == null) {
            ended.completeExceptionally(error == null ? new IllegalStateException() : error);
        } else if (++round < rounds) {
            next.start(this);
        } else {
            ended.complete(System.nanoTime() - begun);
        }
    }

    private static long nanos(PersistentCollective collective, long rounds) {
        MeasuredRank rank = new MeasuredRank(collective, rounds);
        collective.start(rank);
        return rank.ended.join();
    }

    /**
     * Runs it.
     *
     * @param arguments as above
     */
    public static void main(String[] arguments) throws Exception {
        int rank = Integer.parseInt(arguments[1]);
        int size = Integer.parseInt(arguments[2]);
        Path file = Path.of(arguments[3]);
        TransferEngine engine = TransferEngine.open(
                EngineOptions.builder().transports(List.of(arguments[0])).build());
        if (rank == 0) {
            Files.writeString(
                    file.resolveSibling(file.getFileName() + ".new"),
                    engine.address().toString());
            Files.move(file.resolveSibling(file.getFileName() + ".new"), file);
        }
        while (!Files.exists(file)) {
            Thread.sleep(20);
        }
        Team team = Team.form(
                        engine, TeamOptions.rank(rank).of(size).rendezvous(EngineAddress.parse(Files.readString(file))))
                .join();
        CollectiveOptions options = CollectiveOptions.defaults();
        if (!arguments[5].equals("auto")) {
            options = options.withAlgorithm(Algorithm.parse(arguments[5]));
        }
        for (long bytes :
                Arrays.stream(arguments).skip(6).mapToLong(Long::parseLong).toArray()) {
            MemoryRegion source = engine.allocate(Math.max(1, bytes), RegionOptions.readOnly());
            MemoryRegion target = engine.allocate(Math.max(1, bytes), RegionOptions.readOnly());
            long count = bytes / 4;
            CollectiveOperations<PersistentCollective> prepare = team.prepare();
            CollectiveCallback none = (collective, error) -> {};
            PersistentCollective collective = switch (arguments[4]) {
                case "allreduce" ->
                    prepare.allReduce(
                            source, 0, target, 0, count, ElementType.FLOAT32, ReduceOperation.SUM, options, none);
                case "reducescatter" ->
                    prepare.reduceScatter(
                            source,
                            0,
                            target,
                            0,
                            count / size,
                            ElementType.FLOAT32,
                            ReduceOperation.SUM,
                            options,
                            none);
                case "allgather" ->
                    prepare.allGather(source, 0, target, 0, count / size, ElementType.FLOAT32, options, none);
                case "alltoall" ->
                    prepare.allToAll(source, 0, target, 0, count / size, ElementType.FLOAT32, options, none);
                case "reduce" ->
                    prepare.reduce(
                            source, 0, target, 0, count, ElementType.FLOAT32, ReduceOperation.SUM, 0, options, none);
                case "broadcast" -> prepare.broadcast(source, 0, count, ElementType.FLOAT32, 0, options, none);
                default -> prepare.barrier(options, none);
            };
            long rounds = 20;
            long all = 0;
            long measured = 0;
            // all ranks must run the same number of rounds: rank 0 decides, and the others follow its broadcast
            MemoryRegion plan = engine.allocate(8, RegionOptions.local());
            for (int phase = 0; phase < 6; phase++) {
                long nanos = nanos(collective, rounds);
                all += rounds;
                measured = nanos / rounds;
                long wished = phase < 4 ? WARM_UP_NANOS / 4 : NANOS;
                plan.segment()
                        .set(java.lang.foreign.ValueLayout.JAVA_LONG, 0, Math.max(10, wished / Math.max(1, measured)));
                CompletableFuture<Void> told = new CompletableFuture<>();
                team.broadcast(
                        plan,
                        0,
                        1,
                        ElementType.INT64,
                        0,
                        CollectiveOptions.defaults(),
                        (called, error) -> told.complete(null));
                told.join();
                if (phase < 5) {
                    rounds = plan.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 0);
                }
            }
            if (rank == 0) {
                double factor = arguments[4].equals("allreduce")
                        ? 2.0 * (size - 1) / size
                        : arguments[4].equals("broadcast") || arguments[4].equals("reduce") ? 1 : (size - 1.0) / size;
                System.out.printf(
                        "%s %s n=%d %d bytes: %.3f us, bus %.3f GB/s (%d of %d rounds)%n",
                        arguments[4],
                        collective.algorithm(),
                        size,
                        bytes,
                        measured / 1e3,
                        factor * bytes / measured,
                        rounds,
                        all);
            }
            collective.close();
        }
        team.closeAsync().join();
        engine.closeAsync().join();
    }
}
