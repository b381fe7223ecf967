package io.sluice.samples.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * What a mover tells of a move.
 *
 * @param state where it is
 * @param blocksDone blocks that have arrived and fit their seals
 * @param blocksPresent blocks that were there already
 * @param pagesCorrupted pages that do not fit their seals
 * @param bytesDone bytes that have been moved
 * @param problemKind which kind of problem it has ended with; {@code null} without one
 */
public record MoveReport(
        String state,
        long blocksDone,
        long blocksPresent,
        long pagesCorrupted,
        long bytesDone,
        @Nullable String problemKind) {

    private static final String DONE = "DONE";
    private static final String FAILED = "FAILED";
    private static final String CANCELLED = "CANCELLED";

    static MoveReport of(JsonNode json) {
        JsonNode problem = json.path("problem");
        return new MoveReport(
                json.path("state").asText(),
                json.path("blocksDone").asLong(),
                json.path("blocksPresent").asLong(),
                json.path("pagesCorrupted").asLong(),
                json.path("bytesDone").asLong(),
                problem.isObject() ? MoverProblemException.kind(problem) : null);
    }

    /** Whether nothing will change any more. */
    public boolean hasEnded() {
        return isDone() || state.equals(FAILED) || state.equals(CANCELLED);
    }

    /** Whether all its blocks are there. */
    public boolean isDone() {
        return state.equals(DONE);
    }
}
