package io.sluice.collectives.cuda;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamClosedException;
import io.sluice.cuda.PinnedBuffer;
import io.sluice.engine.SluiceException;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** How kernels say that they have given up, and how the host tells them to, by words in pinned memory. Any thread. */
final class TeamWords {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final Team team;
    private final PinnedBuffer buffer;
    private final AtomicReference<@Nullable SluiceException> error = new AtomicReference<>();

    TeamWords(Team team, PinnedBuffer buffer) {
        this.team = team;
        this.buffer = buffer;
    }

    /** Ends kernels that wait for other ranks once the team has ended. */
    void watch() {
        team.ended().whenComplete((nothing, cause) -> {
            Throwable why = cause instanceof CompletionException && cause.getCause() != null ? cause.getCause() : cause;
            end(why instanceof SluiceException known ? known : new TeamClosedException(team + " is closed"));
        });
    }

    PinnedBuffer buffer() {
        return buffer;
    }

    private void end(SluiceException why) {
        error.compareAndSet(null, why);
        try {
            WORD.setRelease(buffer.segment(), TeamLayout.REVOKED_OFFSET, 1L);
        } catch (IllegalStateException givenBack) {
            // no kernel is left
            return;
        }
    }

    /** Ends the collectives because the connection to a rank has ended, which the team is about to see, and returns their error. */
    SluiceException lost(int rank, Throwable cause) {
        end(new RankFailedException("rank %d of %s is lost".formatted(rank, team), Set.of(rank), cause));
        return Objects.requireNonNull(error.get());
    }

    /** Returns why no collective can succeed any more, or null. */
    @Nullable
    SluiceException failure() {
        SluiceException known = error.get();
        if (known != null) {
            return known;
        }
        long word;
        try {
            word = (long) WORD.getAcquire(buffer.segment(), TeamLayout.FAILURE_OFFSET);
        } catch (IllegalStateException givenBack) {
            return new TeamClosedException("the GPU collectives of " + team + " are closed");
        }
        if (word == 0) {
            return null;
        }
        end(given(word));
        team.revoke();
        return error.get();
    }

    /** Whether an error, other than that the team was closed, is known. Looks at no word. */
    boolean hasFailed() {
        SluiceException known = error.get();
        return known != null && !(known instanceof TeamClosedException);
    }

    private SluiceException given(long word) {
        if (!team.failed().isEmpty()) {
            return new RankFailedException(
                    "ranks " + team.failed() + " of " + team + " have failed", team.failed(), null);
        }
        int rank = (int) word - 1;
        return (word & TeamLayout.DIFFERS) != 0
                ? new CollectiveMismatchException(
                        "rank %d of %s has started another collective than rank %d: all start the same ones in the same order"
                                .formatted(rank, team, team.rank()))
                : new CollectiveTimeoutException(
                        "rank %d of %s has not come to a collective of GPUs in time".formatted(rank, team));
    }
}
