package io.sluice.samples.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.Algorithm;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** What each rank is to get, carried out here element by element. */
class RankBuffersTest {
    private static final int RANKS = 3;
    private static final int BLOCK = 5;
    private static final long OPERATION = 11;

    private final TransferEngine engine =
            TransferEngine.open(EngineOptions.builder().noListener().build());
    private final CollectiveContent content = new CollectiveContent(RANKS, ElementType.INT32, ReduceOperation.SUM);
    private final List<RankBuffers> ranks = new ArrayList<>();

    @AfterEach
    void close() {
        ranks.forEach(RankBuffers::close);
        content.close();
        engine.close();
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "BARRIER")
    void onlyTheResultIsRight(BenchCollective collective) {
        CollectivePlan plan = new CollectivePlan(
                List.of(collective),
                RANKS,
                List.of((long) BLOCK * Integer.BYTES * (collective.hasBlocks() ? RANKS : 1)),
                ElementType.INT32,
                ReduceOperation.SUM,
                Algorithm.AUTO,
                false,
                false,
                true,
                Duration.ofMillis(1),
                Duration.ZERO,
                1);
        for (int rank = 0; rank < RANKS; rank++) {
            ranks.add(new RankBuffers(engine, plan, plan.cases().getFirst(), content, rank));
            ranks.getLast().fill(1, OPERATION);
        }
        for (int rank = 0; rank < RANKS; rank++) {
            int length = gets(collective, rank);
            boolean isRoot = collective == BenchCollective.BROADCAST && rank == 0;
            assertThat(ranks.get(rank).isRight(1, OPERATION))
                    .as("before, rank %d", rank)
                    .isEqualTo(length == 0 || isRoot);
            int[] results = new int[length];
            for (int i = 0; i < length; i++) {
                results[i] = result(collective, rank, i);
            }
            MemorySegment target = target(rank).asSlice(0, (long) length * Integer.BYTES);
            MemorySegment.copy(results, 0, target, ValueLayout.JAVA_INT, 0, length);
            assertThat(ranks.get(rank).isRight(1, OPERATION))
                    .as("rank %d", rank)
                    .isTrue();
            for (int i = 0; i < length; i++) {
                target.setAtIndex(ValueLayout.JAVA_INT, i, results[i] + 1);
                assertThat(ranks.get(rank).isRight(1, OPERATION))
                        .as("element %d of rank %d", i, rank)
                        .isFalse();
                target.setAtIndex(ValueLayout.JAVA_INT, i, results[i]);
            }
            assertThat(length == 0 || !ranks.get(rank).isRight(1, OPERATION + 1))
                    .as("of another operation, rank %d", rank)
                    .isTrue();
        }
    }

    private static int gets(BenchCollective collective, int rank) {
        return switch (collective) {
            case ALLREDUCE, REDUCESCATTER, BROADCAST, SCATTER, SENDRECV -> BLOCK;
            case ALLGATHER, ALLTOALL -> RANKS * BLOCK;
            case REDUCE -> rank == 0 ? BLOCK : 0;
            case GATHER -> rank == 0 ? RANKS * BLOCK : 0;
            case BARRIER -> 0;
        };
    }

    /** Of what the ranks have in their sources. */
    private int result(BenchCollective collective, int rank, int i) {
        return switch (collective) {
            case ALLREDUCE, REDUCE -> source(0, i) + source(1, i) + source(2, i);
            case REDUCESCATTER -> {
                int at = rank * BLOCK + i;
                yield source(0, at) + source(1, at) + source(2, at);
            }
            case ALLGATHER, GATHER -> source(i / BLOCK, i % BLOCK);
            case BROADCAST -> target(0).getAtIndex(ValueLayout.JAVA_INT, i);
            case SCATTER -> source(0, rank * BLOCK + i);
            case ALLTOALL -> source(i / BLOCK, rank * BLOCK + i % BLOCK);
            case SENDRECV -> source((rank + RANKS - 1) % RANKS, i);
            case BARRIER -> 0;
        };
    }

    private int source(int rank, int i) {
        RankBuffers buffers = ranks.get(rank);
        return buffers.source().segment().get(ValueLayout.JAVA_INT, buffers.sourceOffset(1) + (long) i * Integer.BYTES);
    }

    private MemorySegment target(int rank) {
        RankBuffers buffers = ranks.get(rank);
        return buffers.target().segment().asSlice(buffers.targetOffset(1));
    }
}
