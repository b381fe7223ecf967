package io.sluice.samples.experts;

import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.Team;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertCallback;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Experts on the ranks of a team. */
final class TeamExperts implements Exchange {
    private static final int ROW_BYTES = Expert.WIDTH * Short.BYTES;

    private final TransferEngine engine;
    private final int experts;
    private final int tokens;
    private final MemoryRegion rows;
    private final MemoryRegion choices;
    private final MemoryRegion weights;
    private final MemoryRegion sums;
    private final MemoryRegion mine;
    private final MemoryRegion gathered;
    private Team team;
    private ExpertBuffer buffer;

    /**
     * Uses a team, and closes it.
     *
     * @param engine of the team
     * @param experts how many
     * @param tokens at once, of all ranks together
     */
    TeamExperts(TransferEngine engine, Team team, int experts, int tokens) {
        this.engine = engine;
        this.team = team;
        this.experts = experts;
        this.tokens = tokens;
        rows = local((long) tokens * ROW_BYTES);
        choices = local((long) tokens * Router.CHOICES * Long.BYTES);
        weights = local((long) tokens * Router.CHOICES * Float.BYTES);
        sums = local((long) tokens * ROW_BYTES);
        long floats = Math.max(tokens, (long) experts * Expert.STATE);
        mine = local(floats * Float.BYTES);
        gathered = local(floats * Float.BYTES);
        buffer = create();
    }

    private MemoryRegion local(long bytes) {
        return engine.allocate(bytes, RegionOptions.local());
    }

    /** The last ranks may have fewer experts than places. */
    private ExpertBuffer create() {
        return join(ExpertBuffer.create(
                team,
                ExpertOptions.experts(localExperts() * team.size())
                        .hidden(Expert.WIDTH)
                        .topK(Router.CHOICES)
                        .maxTokensPerRank((tokens + team.size() - 1) / team.size())));
    }

    @Override
    public int rank() {
        return team.rank();
    }

    @Override
    public int size() {
        return team.size();
    }

    @Override
    public int localExperts() {
        return (experts + team.size() - 1) / team.size();
    }

    /**
     * Rows of a dispatch.
     *
     * @param order of each local expert, its rows by rank and token
     */
    private record Dispatched(LowLatencyResult result, List<int[]> order) implements Arrived {
        @Override
        public short[][] rows(int localExpert) {
            MemorySegment tokens = result.tokens().segment();
            return Arrays.stream(order.get(localExpert))
                    .mapToObj(row -> read(tokens, row))
                    .toArray(short[][]::new);
        }

        @Override
        public void close() {
            result.close();
        }
    }

    private static short[] read(MemorySegment rows, int row) {
        return rows.asSlice((long) row * ROW_BYTES, ROW_BYTES).toArray(ValueLayout.JAVA_SHORT_UNALIGNED);
    }

    private static void write(MemorySegment rows, int row, short[] values) {
        MemorySegment.copy(values, 0, rows, ValueLayout.JAVA_SHORT_UNALIGNED, (long) row * ROW_BYTES, values.length);
    }

    @Override
    public Arrived send(short[][] tokenRows, int[][] chosen) {
        for (int token = 0; token < tokenRows.length; token++) {
            write(rows.segment(), token, tokenRows[token]);
            for (int k = 0; k < Router.CHOICES; k++) {
                choices.segment()
                        .setAtIndex(ValueLayout.JAVA_LONG, (long) token * Router.CHOICES + k, chosen[token][k]);
            }
        }
        LowLatencyResult result = awaitExperts(callback ->
                buffer.lowLatencyDispatch(rows, 0, choices, 0, tokenRows.length, DispatchOptions.defaults(), callback));
        return new Dispatched(
                result,
                IntStream.range(0, localExperts())
                        .mapToObj(localExpert -> order(result, localExpert))
                        .toList());
    }

    /** Rows of one rank come in any order. */
    private int[] order(LowLatencyResult result, int localExpert) {
        int ranks = team.size();
        int first = localExpert * ranks * buffer.options().maxTokensPerRank();
        MemorySegment sources = result.sources().segment();
        return IntStream.range(0, ranks)
                .mapToLong(rank ->
                        result.ranges().segment().getAtIndex(ValueLayout.JAVA_LONG, (long) localExpert * ranks + rank))
                .boxed()
                .flatMap(range -> {
                    int begin = first + (int) (range >>> Integer.SIZE);
                    return IntStream.range(begin, begin + range.intValue())
                            .boxed()
                            .sorted(Comparator.comparing(row -> sources.getAtIndex(ValueLayout.JAVA_INT, row)));
                })
                .mapToInt(Integer::intValue)
                .toArray();
    }

    @Override
    public short[][] answer(Arrived arrived, short[][][] results, float[][] tokenWeights) {
        Dispatched dispatched = (Dispatched) arrived;
        MemoryRegion answers = dispatched.result.combineBuffer();
        for (int localExpert = 0; localExpert < results.length; localExpert++) {
            int[] order = dispatched.order.get(localExpert);
            for (int i = 0; i < order.length; i++) {
                write(answers.segment(), order[i], results[localExpert][i]);
            }
        }
        for (int token = 0; token < tokenWeights.length; token++) {
            for (int k = 0; k < Router.CHOICES; k++) {
                weights.segment()
                        .setAtIndex(ValueLayout.JAVA_FLOAT, (long) token * Router.CHOICES + k, tokenWeights[token][k]);
            }
        }
        awaitExperts((ExpertCallback<MemoryRegion> callback) -> buffer.lowLatencyCombine(
                dispatched.result, answers, 0, choices, 0, weights, 0, sums, 0, CombineOptions.defaults(), callback));
        short[][] found = new short[tokenWeights.length][];
        Arrays.setAll(found, token -> read(sums.segment(), token));
        return found;
    }

    @Override
    public float[] gather(float[] values, int[] counts) {
        MemorySegment.copy(values, 0, mine.segment(), ValueLayout.JAVA_FLOAT, 0, values.length);
        long[] blocks = Arrays.stream(counts).asLongStream().toArray();
        awaitTeam(callback -> team.allGatherV(
                mine, 0, gathered, 0, blocks, ElementType.FLOAT32, CollectiveOptions.defaults(), callback));
        long floats = Arrays.stream(blocks).sum();
        return gathered.segment().asSlice(0, floats * Float.BYTES).toArray(ValueLayout.JAVA_FLOAT);
    }

    @Override
    public long least(long number) {
        mine.segment().set(ValueLayout.JAVA_LONG, 0, number);
        awaitTeam(callback -> team.allReduce(
                mine, 0, mine, 0, 1, ElementType.INT64, ReduceOperation.MIN, CollectiveOptions.defaults(), callback));
        return mine.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    @Override
    public void shrink() {
        join(buffer.closeAsync());
        team = join(team.shrink());
        buffer = create();
    }

    private static void awaitTeam(Consumer<CollectiveCallback> call) {
        CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
        call.accept((collective, error) -> {
            if (error == null) {
                ended.complete(null);
            } else {
                ended.completeExceptionally(error);
            }
        });
        join(ended);
    }

    private static <T> T awaitExperts(Consumer<ExpertCallback<T>> call) {
        CompletableFuture<T> ended = new CompletableFuture<>();
        call.accept((result, error) -> {
            if (error == null) {
                ended.complete(Objects.requireNonNull(result));
            } else {
                ended.completeExceptionally(error);
            }
        });
        return join(ended);
    }

    private static <T extends @Nullable Object> T join(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof SluiceException error) {
                throw error;
            }
            throw e;
        }
    }

    @Override
    public void close() {
        join(buffer.closeAsync());
        join(team.closeAsync());
        List.of(rows, choices, weights, sums, mine, gathered).forEach(region -> join(region.close()));
    }
}
