package io.sluice.collectives;

import io.sluice.engine.SluiceException;
import java.io.Serial;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Ranks of a team were lost or have left it. The survivors can {@linkplain Team#shrink() go on without them}. */
public final class RankFailedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** The ranks that failed. */
    private final TreeSet<Integer> ranks;

    /**
     * Creates an exception.
     *
     * @param message what happened
     * @param ranks the failed ranks, as far as this rank knows
     * @param cause the error that a transfer or connection ended with, or {@code null}
     */
    public RankFailedException(String message, Set<Integer> ranks, @Nullable Throwable cause) {
        super(message, cause);
        this.ranks = new TreeSet<>(ranks);
    }

    /**
     * Returns the ranks that failed.
     *
     * @return an unmodifiable set in ascending order
     */
    public Set<Integer> ranks() {
        return Collections.unmodifiableSortedSet(ranks);
    }
}
