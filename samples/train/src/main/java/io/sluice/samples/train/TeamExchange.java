package io.sluice.samples.train;

import io.sluice.collectives.Algorithm;
import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Gradients that the ranks of a team add up by an all-reduce. When ranks are lost, those that are left form a smaller team. */
public final class TeamExchange implements GradientExchange {
    private static final CollectiveOptions OPTIONS =
            CollectiveOptions.defaults().withAlgorithm(Algorithm.RECURSIVE_DOUBLING);

    private final MemoryRegion gradients;
    private final MemoryRegion word;
    private Team team;

    /** The sums that every rank has, as far as this one knows. */
    private long known;

    /**
     * Uses a team, and closes it.
     *
     * @param engine of the team
     * @param bytes of the gradients
     */
    public TeamExchange(TransferEngine engine, Team team, long bytes) {
        this.team = team;
        gradients = engine.allocate(bytes, RegionOptions.local());
        word = engine.allocate(Long.BYTES, RegionOptions.local());
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
    public MemorySegment gradients() {
        return gradients.segment();
    }

    @Override
    public boolean sum() {
        long count = gradients.segment().byteSize() / Float.BYTES;
        try {
            await(callback -> team.allReduce(
                    gradients, 0, gradients, 0, count, ElementType.FLOAT32, ReduceOperation.SUM, OPTIONS, callback));
            // Behind it every rank has the sums: so no rank uses them that another one may have lost.
            await(callback -> team.barrier(CollectiveOptions.defaults(), callback));
            known++;
            return true;
        } catch (RankFailedException | TeamRevokedException _) {
            return shrink();
        }
    }

    /** A rank that has passed the barrier proves that all had the sums, though others have seen the barrier fail. */
    private boolean shrink() {
        while (true) {
            try {
                team = join(team.shrink());
                long mostKnown = highest(known);
                boolean complete = mostKnown > known;
                known = mostKnown;
                return complete;
            } catch (RankFailedException | TeamRevokedException _) {
                // The next team is smaller still.
            }
        }
    }

    @Override
    public boolean isSame(long number) {
        return highest(number) == number && highest(~number) == ~number;
    }

    private long highest(long value) {
        word.segment().set(ValueLayout.JAVA_LONG, 0, value);
        await(callback -> team.allReduce(
                word, 0, word, 0, 1, ElementType.INT64, ReduceOperation.MAX, CollectiveOptions.defaults(), callback));
        return word.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    private static void await(Consumer<CollectiveCallback> call) {
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
        join(team.closeAsync());
        join(gradients.close());
        join(word.close());
    }
}
