package io.sluice.engine;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Chooses, when a region is attached, which of a connection's paths carries the transfers with that region. Nothing is
 * chosen or looked up when a transfer is posted.
 *
 * <p>A policy is called on a poller, for each region and each kind of local memory, so it must be fast and must not
 * block. If it throws, or returns a path that is no candidate, the attach fails.
 */
@FunctionalInterface
public interface PathPolicy {
    /** The use of a path. */
    enum Use {
        /** Reads and writes. */
        COPIES,
        /** Puts, signals and atomic operations. */
        WORDS
    }

    /**
     * The decision to make.
     *
     * @param region the region to attach; {@link RegionDescriptor#kind()} is the kind of its memory
     * @param device the stable id of the device of the region's memory; {@code null} for host memory, and if the peer's
     *     version does not report it
     * @param use what the path is for
     * @param local the kind of the local memory; {@link MemoryKind#HOST} for {@link Use#WORDS}
     * @param candidates the paths that are able to, the connection's most preferred first; for memory of a device its own
     *     transport comes before it, and those that stage it in the host last; at least one
     */
    record Question(
            RegionDescriptor region,
            @Nullable String device,
            Use use,
            MemoryKind local,
            List<ConnectionPath> candidates) {
        /** Copies the list. */
        public Question {
            Objects.requireNonNull(region, "region");
            Objects.requireNonNull(use, "use");
            Objects.requireNonNull(local, "local");
            candidates = List.copyOf(candidates);
        }
    }

    /**
     * Chooses a path.
     *
     * @param question the decision to make
     * @return one of the {@link Question#candidates()}
     */
    ConnectionPath choose(Question question);

    /**
     * Returns the policy that takes the first candidate.
     *
     * @return the default policy
     */
    static PathPolicy inOrder() {
        return question -> question.candidates().getFirst();
    }
}
