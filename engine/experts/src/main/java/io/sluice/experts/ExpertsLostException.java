package io.sluice.experts;

import io.sluice.engine.SluiceException;
import java.io.Serial;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Ranks were lost or have left, and their experts with them. The survivors can {@linkplain
 * io.sluice.collectives.Team#shrink() shrink} the team and create another buffer.
 */
public final class ExpertsLostException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** The ranks that failed. */
    private final TreeSet<Integer> ranks;

    /** Their experts. */
    private final TreeSet<Integer> experts;

    /**
     * Creates an exception.
     *
     * @param message what happened
     * @param ranks the failed ranks, as far as this rank knows
     * @param experts their experts
     * @param cause the error that ended the team, or {@code null}
     */
    public ExpertsLostException(String message, Set<Integer> ranks, Set<Integer> experts, @Nullable Throwable cause) {
        super(message, cause);
        this.ranks = new TreeSet<>(ranks);
        this.experts = new TreeSet<>(experts);
    }

    /**
     * Returns the ranks that failed.
     *
     * @return an unmodifiable set in ascending order
     */
    public Set<Integer> ranks() {
        return Collections.unmodifiableSortedSet(ranks);
    }

    /**
     * Returns the experts that were lost.
     *
     * @return an unmodifiable set in ascending order
     */
    public Set<Integer> experts() {
        return Collections.unmodifiableSortedSet(experts);
    }
}
