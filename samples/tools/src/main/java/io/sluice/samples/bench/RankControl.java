package io.sluice.samples.bench;

import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.Team;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What the ranks say to each other between measurements. Used by one thread. */
final class RankControl implements AutoCloseable {
    /** A collective has a time-out, a block of them this one. */
    private static final long PATIENCE_NANOS = 180_000_000_000L;

    private static final long POLL_MILLIS = 50;

    private final TransferEngine engine;
    private final Team team;
    private final BooleanSupplier interrupted;
    private final MemoryRegion words;
    private final MemoryRegion figures;

    RankControl(TransferEngine engine, Team team, int mostWords, BooleanSupplier interrupted) {
        this.engine = engine;
        this.team = team;
        this.interrupted = interrupted;
        words = engine.allocate((long) mostWords * Long.BYTES, RegionOptions.local());
        figures = engine.allocate((team.size() + 1L) * RankFigures.BYTES, RegionOptions.local());
    }

    /** The names of the transports that connect this rank with the others. */
    String transport() {
        String names = engine.connections().stream()
                .map(Connection::transport)
                .distinct()
                .sorted()
                .collect(Collectors.joining(","));
        return names.isEmpty() ? "none" : names;
    }

    /** Gives every rank a number of the first one. */
    long agreed(long number) {
        words.segment().set(ValueLayout.JAVA_LONG, 0, number);
        await(callback -> team.broadcast(words, 0, 1, ElementType.INT64, 0, CollectiveOptions.defaults(), callback));
        return words.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    /** Replaces numbers by the greatest of all ranks. */
    void greatest(long[] numbers) {
        MemorySegment memory = words.segment();
        MemorySegment.copy(numbers, 0, memory, ValueLayout.JAVA_LONG, 0, numbers.length);
        await(callback -> team.allReduce(
                words,
                0,
                words,
                0,
                numbers.length,
                ElementType.INT64,
                ReduceOperation.MAX,
                CollectiveOptions.defaults(),
                callback));
        MemorySegment.copy(memory, ValueLayout.JAVA_LONG, 0, numbers, 0, numbers.length);
    }

    /** Adds up a number of each rank. */
    long sum(long number) {
        words.segment().set(ValueLayout.JAVA_LONG, 0, number);
        await(callback -> team.allReduce(
                words, 0, words, 0, 1, ElementType.INT64, ReduceOperation.SUM, CollectiveOptions.defaults(), callback));
        return words.segment().get(ValueLayout.JAVA_LONG, 0);
    }

    /** Tells the first rank the figures of all; the others get none. */
    List<RankFigures> gathered(RankFigures own) {
        MemorySegment memory = figures.segment();
        long all = (long) team.size() * RankFigures.BYTES;
        MemorySegment.copy(own.encoded(), 0, memory, ValueLayout.JAVA_BYTE, all, RankFigures.BYTES);
        await(callback -> team.gather(
                figures,
                all,
                figures,
                0,
                RankFigures.BYTES,
                ElementType.INT8,
                0,
                CollectiveOptions.defaults(),
                callback));
        List<RankFigures> gathered = new ArrayList<>();
        for (int rank = 0; team.rank() == 0 && rank < team.size(); rank++) {
            byte[] bytes = memory.asSlice((long) rank * RankFigures.BYTES, RankFigures.BYTES)
                    .toArray(ValueLayout.JAVA_BYTE);
            gathered.add(RankFigures.decoded(ByteBuffer.wrap(bytes)));
        }
        return gathered;
    }

    /** Waits until all ranks do. */
    void meet() {
        await(callback -> team.barrier(CollectiveOptions.defaults(), callback));
    }

    private void await(Consumer<CollectiveCallback> call) {
        CompletableFuture<@Nullable Collective> ended = new CompletableFuture<>();
        call.accept((collective, error) -> {
            if (error == null) {
                ended.complete(collective);
            } else {
                ended.completeExceptionally(error);
            }
        });
        await(ended);
    }

    /**
     * Waits for what the team's loop brings about.
     *
     * @throws SluiceException if that is an error of the team
     * @throws BenchException if it takes too long, or this process is to end
     */
    <T extends @Nullable Object> T await(CompletableFuture<T> future) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
            try {
                return future.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                if (interrupted.getAsBoolean()) {
                    throw BenchException.failed("interrupted");
                }
                if (System.nanoTime() - deadline > 0) {
                    throw BenchException.failed("rank " + team.rank() + ": the other ranks did not go on within "
                            + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS) + " s");
                }
            } catch (ExecutionException e) {
                throw e.getCause() instanceof SluiceException known
                        ? known
                        : new IllegalStateException("this always ends in one of the team's errors", e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw BenchException.failed("interrupted");
            }
        }
    }

    @Override
    public void close() {
        Waiting.await(words.close(), "giving memory back");
        Waiting.await(figures.close(), "giving memory back");
    }
}
