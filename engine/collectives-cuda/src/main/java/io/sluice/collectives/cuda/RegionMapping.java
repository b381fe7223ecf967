package io.sluice.collectives.cuda;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.SharedRegion;
import io.sluice.collectives.Team;
import io.sluice.cuda.MappedRegion;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Shares a region of each rank and maps it for the GPUs of all, on all ranks or on none. The ranks also compare what they are to have
 * in common.
 */
final class RegionMapping {
    // whether it is mapped, how many numbers there are, and their digest: as many words for any numbers
    private static final int STATUS_WORDS = 6;
    private static final int COMMON_WORD = 1;
    private static final long MAPPED = 1;

    /** Takes no region's place. */
    static final TeamRegion.Substitute NONE = (rank, region, why) -> CompletableFuture.failedFuture(why);

    private final Team team;
    private final String gpu;
    private final CompletableFuture<MemoryRegion> local;
    private final CompletableFuture<?> other;
    private final TeamRegion.Substitute substitute;
    private final long[] common;
    private final int number;
    private final MemoryRegion status;
    private volatile List<CompletableFuture<MappedRegion>> mapped = List.of();

    private RegionMapping(
            Team team,
            String gpu,
            CompletableFuture<MemoryRegion> local,
            CompletableFuture<?> other,
            TeamRegion.Substitute substitute,
            int number,
            long[] common) {
        this.team = team;
        this.gpu = gpu;
        this.local = local;
        this.other = other;
        this.substitute = substitute;
        this.number = number;
        this.common = digest(common);
        this.status = team.engine().allocate((team.size() + 1L) * STATUS_WORDS * Long.BYTES, RegionOptions.readOnly());
    }

    /**
     * Maps regions. A collective of the team's.
     *
     * @param local completed; if with an error, that is what all ranks fail of
     * @param other what must succeed as well
     * @param substitute for regions that kernels do not reach
     * @param number of the region, see {@link TeamRegion#number}
     * @param common numbers that all ranks must give
     */
    static CompletableFuture<TeamRegion> map(
            Team team,
            String gpu,
            CompletableFuture<MemoryRegion> local,
            CompletableFuture<?> other,
            TeamRegion.Substitute substitute,
            int number,
            long... common) {
        try {
            return new RegionMapping(team, gpu, local, other, substitute, number, common).start();
        } catch (SluiceException | IllegalStateException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Both collectives are called at once, as other calls of the user's may follow. */
    private CompletableFuture<TeamRegion> start() {
        // a rank that has none takes part, with memory that no GPU maps
        CompletableFuture<SharedRegion> shared = team.share(local.isCompletedExceptionally() ? status : local.join());
        CompletableFuture<Void> ready = shared.thenCompose(this::mapAll)
                .thenCombine(other, (all, too) -> all)
                .handle((nothing, error) -> {
                    putStatus(error == null);
                    return null;
                });
        CompletableFuture<@Nullable SluiceException> agreed = new CompletableFuture<>();
        try {
            team.allGather(
                    status,
                    0,
                    status,
                    (long) STATUS_WORDS * Long.BYTES,
                    STATUS_WORDS,
                    ElementType.INT64,
                    CollectiveOptions.defaults().startAfter(StartEvent.of(ready)),
                    (called, error) -> agreed.complete(error));
        } catch (SluiceException e) {
            agreed.complete(e);
        }
        CompletableFuture<TeamRegion> result = new CompletableFuture<>();
        // not on the team's loop: callers go on when the regions are mapped
        agreed.thenCombineAsync(ready.exceptionally(closed -> null), (error, nothing) -> {
            try {
                finish(shared, error, result);
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
            return result;
        });
        return result;
    }

    /** How many numbers there are, and their SHA-256. */
    private static long[] digest(long[] numbers) {
        ByteBuffer bytes = ByteBuffer.allocate(numbers.length * Long.BYTES);
        bytes.asLongBuffer().put(numbers);
        ByteBuffer hash;
        try {
            hash = ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
        return new long[] {numbers.length, hash.getLong(), hash.getLong(), hash.getLong(), hash.getLong()};
    }

    private CompletableFuture<Void> mapAll(SharedRegion shared) {
        List<CompletableFuture<MappedRegion>> mapping = new ArrayList<>();
        for (int rank = 0; rank < team.size(); rank++) {
            mapping.add(rank == team.rank() ? local.thenApply(MappedRegion::of) : map(rank, shared.of(rank)));
        }
        mapped = mapping;
        return CompletableFuture.allOf(mapping.toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<MappedRegion> map(int rank, RemoteRegion region) {
        return MappedRegion.of(region, gpu)
                .exceptionallyComposeAsync(error -> cause(error) instanceof MemoryNotAccessibleException why
                        ? substitute.of(rank, region, why)
                        : CompletableFuture.failedFuture(error));
    }

    private void putStatus(boolean isMapped) {
        put(0, isMapped ? MAPPED : 0);
        for (int i = 0; i < common.length; i++) {
            put(COMMON_WORD + i, common[i]);
        }
    }

    private void put(int word, long value) {
        status.segment().setAtIndex(ValueLayout.JAVA_LONG, word, value);
    }

    private long status(int rank, int word) {
        return status.segment().getAtIndex(ValueLayout.JAVA_LONG, (rank + 1L) * STATUS_WORDS + word);
    }

    /** Once nothing of it is under way here. */
    private void finish(
            CompletableFuture<SharedRegion> shared,
            @Nullable SluiceException error,
            CompletableFuture<TeamRegion> result) {
        Throwable failure = error == null ? failure(shared) : error;
        status.close();
        if (failure == null) {
            List<MappedRegion> all =
                    mapped.stream().map(CompletableFuture::join).toList();
            result.complete(new TeamRegion(team, shared.join(), all, number));
            return;
        }
        mapped.forEach(each -> each.thenAccept(MappedRegion::close));
        shared.thenCompose(SharedRegion::closeAsync)
                .whenCompleteAsync((nothing, ignored) -> result.completeExceptionally(failure));
    }

    /** Why it has failed here, else on another rank. */
    private @Nullable Throwable failure(CompletableFuture<SharedRegion> shared) {
        List<CompletableFuture<?>> parts = new ArrayList<>(List.of(local, other, shared));
        parts.addAll(mapped);
        for (CompletableFuture<?> each : parts) {
            if (each.isCompletedExceptionally()) {
                return cause(each);
            }
        }
        for (int rank = 0; rank < team.size(); rank++) {
            if (status(rank, 0) != MAPPED) {
                return new MemoryNotAccessibleException(
                        "the GPU of rank %d of %s does not reach the memory of all others; its error says why"
                                .formatted(rank, team));
            }
            for (int i = 0; i < common.length; i++) {
                if (status(rank, COMMON_WORD + i) != common[i]) {
                    return new CollectiveMismatchException(
                            "ranks %d and %d of %s have different options: give all the same"
                                    .formatted(team.rank(), rank, team));
                }
            }
        }
        return null;
    }

    private static Throwable cause(CompletableFuture<?> failed) {
        return cause(failed.exceptionNow());
    }

    private static Throwable cause(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }
}
