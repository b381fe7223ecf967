package io.sluice.engine;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Settles which of a connection's paths carries the transfers with a region, when the region is attached. Nothing is chosen, or
 * looked up, when a transfer is posted.
 *
 * <p>It is asked on a poller, for each region and each kind of local memory, so it must neither block nor take long. If it throws,
 * or chooses what is no candidate, the attach fails.
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
     * @param region what is attached; {@link RegionDescriptor#kind()} says what memory it is
     * @param device the device of the region's memory, by its stable id; {@code null} for memory of the host, and if the peer is of
     *     a version that does not report it
     * @param use what the path is for
     * @param local the kind of the local memory; {@link MemoryKind#HOST} for {@link Use#WORDS}
     * @param candidates the paths that can do it, the connection's most preferred first; at least one
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
     * Chooses.
     *
     * @param question what is to be settled
     * @return one of the {@link Question#candidates()}
     */
    ConnectionPath choose(Question question);

    /**
     * Takes the first candidate: the order of the connection's paths is that of the engines' preferred transports.
     *
     * @return the policy that engines have by default
     */
    static PathPolicy inOrder() {
        return question -> question.candidates().getFirst();
    }
}
