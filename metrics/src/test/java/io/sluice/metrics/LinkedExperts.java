package io.sluice.metrics;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Expert buffers of two ranks, with six experts each. */
final class LinkedExperts implements AutoCloseable {
    static final int EXPERTS = 12;
    static final int TOKENS = 4;
    private static final int HIDDEN = 128;

    private final List<ExpertBuffer> buffers = new ArrayList<>();
    private final List<MemoryRegion> tokens = new ArrayList<>();
    private final List<MemoryRegion> choices = new ArrayList<>();

    private LinkedExperts() {}

    /** Token t of each rank goes to expert t. */
    static LinkedExperts of(LinkedTeams teams) {
        LinkedExperts experts = new LinkedExperts();
        List<CompletableFuture<ExpertBuffer>> creating = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            creating.add(ExpertBuffer.create(
                    teams.team(rank),
                    ExpertOptions.experts(EXPERTS)
                            .hidden(HIDDEN)
                            .maxTokensPerRank(TOKENS)
                            .topK(1)
                            .timeout(Patience.BOUND)));
            experts.tokens.add(
                    teams.engine(rank).allocate((long) TOKENS * HIDDEN * Short.BYTES, RegionOptions.local()));
            MemoryRegion chosen = teams.engine(rank).allocate((long) TOKENS * Long.BYTES, RegionOptions.local());
            for (int token = 0; token < TOKENS; token++) {
                chosen.segment().setAtIndex(ValueLayout.JAVA_LONG, token, token);
            }
            experts.choices.add(chosen);
        }
        creating.forEach(buffer -> experts.buffers.add(Patience.await(buffer)));
        return experts;
    }

    ExpertBuffer buffer(int rank) {
        return buffers.get(rank);
    }

    /** Dispatches on both ranks, one after another, and waits until all have ended. */
    void dispatches(int count) {
        for (int i = 0; i < count; i++) {
            List<CompletableFuture<LowLatencyResult>> ended = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                CompletableFuture<LowLatencyResult> end = new CompletableFuture<>();
                buffers.get(rank)
                        .lowLatencyDispatch(
                                tokens.get(rank),
                                0,
                                choices.get(rank),
                                0,
                                TOKENS,
                                DispatchOptions.defaults(),
                                (result, error) -> {
                                    if (error == null) {
                                        end.complete(result);
                                    } else {
                                        end.completeExceptionally(error);
                                    }
                                });
                ended.add(end);
            }
            ended.forEach(each -> Patience.await(each).close());
        }
    }

    @Override
    public void close() {
        buffers.stream().map(ExpertBuffer::closeAsync).toList().forEach(Patience::await);
    }
}
