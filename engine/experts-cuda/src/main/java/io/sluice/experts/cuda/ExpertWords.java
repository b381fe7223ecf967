package io.sluice.experts.cuda;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamClosedException;
import io.sluice.cuda.PinnedBuffer;
import io.sluice.engine.SluiceException;
import io.sluice.experts.ExpertBufferClosedException;
import io.sluice.experts.ExpertsLostException;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** How kernels say that they have given up, and how the host tells them to, by words in pinned memory. Any thread. */
final class ExpertWords {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final String COPIES_THAT_WAIT =
            ", or the copies of what the host carries have waited for kernels: set CUDA_DEVICE_MAX_CONNECTIONS=32 before processes start";

    private final Team team;
    private final int localExperts;
    private final PinnedBuffer buffer;
    private final AtomicReference<@Nullable SluiceException> error = new AtomicReference<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile Set<Integer> proxied = Set.of();

    ExpertWords(Team team, int localExperts, PinnedBuffer buffer) {
        this.team = team;
        this.localExperts = localExperts;
        this.buffer = buffer;
    }

    /** Names the ranks that the host carries to. */
    void proxied(Set<Integer> ranks) {
        proxied = ranks;
    }

    /** Ends kernels that wait for other ranks once the team has ended. */
    void watch() {
        team.ended().whenComplete((nothing, cause) -> {
            Throwable why = cause instanceof CompletionException && cause.getCause() != null ? cause.getCause() : cause;
            if (why instanceof RankFailedException failed) {
                end(lost(failed.ranks(), failed));
            } else {
                end(why instanceof SluiceException known ? known : new TeamClosedException(team + " is closed"));
            }
        });
    }

    PinnedBuffer buffer() {
        return buffer;
    }

    /** Returns what completes when the buffer has ended on this rank. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    /** Ends the buffer on this rank: kernels that wait give up. False if it had ended before. */
    boolean end(SluiceException why) {
        boolean isFirst = error.compareAndSet(null, why);
        try {
            WORD.setRelease(buffer.segment(), BufferLayout.REVOKED_OFFSET, 1L);
        } catch (IllegalStateException givenBack) {
            // no kernel is left
            return isFirst;
        } finally {
            ended.complete(null);
        }
        return isFirst;
    }

    /** Ends the buffers of all ranks, unless this one's has ended before: what the others wait for cannot come. */
    void fail(SluiceException why) {
        if (end(why)) {
            team.revoke();
        }
    }

    ExpertsLostException lost(Set<Integer> ranks, @Nullable Throwable cause) {
        Set<Integer> experts = new TreeSet<>();
        for (int rank : ranks) {
            for (int i = 0; i < localExperts; i++) {
                experts.add(rank * localExperts + i);
            }
        }
        return new ExpertsLostException(
                "ranks " + new TreeSet<>(ranks) + " of " + team + " are lost or have left, and with them the experts "
                        + experts,
                ranks,
                experts,
                cause);
    }

    /** Returns why no call can succeed any more, or null. */
    @Nullable
    SluiceException failure() {
        SluiceException known = error.get();
        if (known != null) {
            return known;
        }
        long word;
        try {
            word = (long) WORD.getAcquire(buffer.segment(), BufferLayout.FAILURE_OFFSET);
        } catch (IllegalStateException givenBack) {
            return new TeamClosedException("the expert buffer of " + team + " is closed");
        }
        if (word == 0) {
            return null;
        }
        int kind = (int) (word >>> Integer.SIZE);
        end(given(kind, (int) word - 1));
        // others see by themselves that a rank has left
        if (kind != BufferLayout.LEFT) {
            team.revoke();
        }
        return error.get();
    }

    /** Whether an error, other than that the buffer or the team was closed, is known. Looks at no word. */
    boolean hasFailed() {
        SluiceException known = error.get();
        return known != null
                && !(known instanceof ExpertBufferClosedException)
                && !(known instanceof TeamClosedException);
    }

    private SluiceException given(int kind, int rank) {
        if (!team.failed().isEmpty()) {
            return lost(team.failed(), null);
        }
        return switch (kind) {
            case BufferLayout.MISSING ->
                new CollectiveTimeoutException("rank %d of %s has not come to a call in time%s"
                        .formatted(rank, team, proxied.contains(rank) ? COPIES_THAT_WAIT : ""));
            case BufferLayout.LEFT -> lost(Set.of(rank), null);
            case BufferLayout.DIFFERS ->
                new CollectiveMismatchException(
                        "rank %d of %s has called something else than rank %d, or in another format: all make the same calls in the same order"
                                .formatted(rank, team, team.rank()));
            case BufferLayout.OVERFULL ->
                new TooManyRowsException("%d rows are to lie at rank %d of %s, and there is room for %d"
                        .formatted(detail(BufferLayout.TOKEN_OFFSET), rank, team, detail(BufferLayout.EXPERT_OFFSET)));
            case BufferLayout.NOT_PREPARED ->
                new CollectiveMismatchException(
                        "rank %d of %s calls with a layout or a handle that is not of its %d tokens: start that before, with as many"
                                .formatted(rank, team, detail(BufferLayout.TOKEN_OFFSET)));
            default ->
                new InvalidChoiceException("token %d of rank %d %s"
                        .formatted(
                                detail(BufferLayout.TOKEN_OFFSET),
                                rank,
                                switch (kind) {
                                    case BufferLayout.NO_EXPERT ->
                                        "names expert %d, and there are %d (-1 names none)"
                                                .formatted(
                                                        detail(BufferLayout.EXPERT_OFFSET), localExperts * team.size());
                                    case BufferLayout.NAMED_TWICE ->
                                        "names expert %d twice".formatted(detail(BufferLayout.EXPERT_OFFSET));
                                    default ->
                                        "is combined with expert %d, to which it was not dispatched"
                                                .formatted(detail(BufferLayout.EXPERT_OFFSET));
                                }));
        };
    }

    private long detail(long offset) {
        return (long) WORD.getAcquire(buffer.segment(), offset);
    }
}
