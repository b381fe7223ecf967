package io.sluice.samples.bench;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a dispatch in normal mode, laid out as {@link io.sluice.experts.NormalResult} says.
 *
 * @param scales {@code null} where nothing is quantised
 */
record NormalRows(
        ExpertPlan plan,
        ExpertContent content,
        int rank,
        int received,
        MemorySegment tokens,
        @Nullable MemorySegment scales,
        MemorySegment choices,
        MemorySegment weights,
        MemorySegment sources)
        implements ExpertRows {
    private interface Visitor {
        void row(int row, int source, int token);
    }

    /** Visits the rows that are to come, ordered by rank, and then by token; returns how many there are. */
    private int each(Visitor visitor) {
        int row = 0;
        for (int source = 0; source < plan.ranks(); source++) {
            for (int token = 0; token < plan.tokens(); token++) {
                if (content.goesTo(source, token, rank)) {
                    visitor.row(row++, source, token);
                }
            }
        }
        return row;
    }

    @Override
    public void answer(long block, MemorySegment answers) {
        each((row, source, token) -> content.answer(block, source, token, rank).put(answers, row * plan.rowBytes()));
    }

    @Override
    public long wrong(long block) {
        long[] wrong = new long[1];
        int count =
                each((row, source, token) -> wrong[0] += row < received && isRight(block, row, source, token) ? 0 : 1);
        return wrong[0] + Math.max(0, received - count);
    }

    private boolean isRight(long block, int row, int source, int token) {
        ExpertContent.Vector vector = content.token(block, source, token);
        if (sources.getAtIndex(ValueLayout.JAVA_INT, row) != token || !areChoicesRight(row, source, token)) {
            return false;
        }
        if (scales == null) {
            return vector.isIn(tokens, row * plan.rowBytes());
        }
        return vector.isQuantisedIn(tokens, (long) row * plan.hidden())
                && vector.hasScales(scales, (long) row * plan.scales() * Float.BYTES, Float.BYTES);
    }

    private boolean areChoicesRight(int row, int source, int token) {
        for (int k = 0; k < plan.topK(); k++) {
            int local = content.choice(source, token, k) - rank * plan.localExperts();
            boolean here = local >= 0 && local < plan.localExperts();
            long at = (long) row * plan.topK() + k;
            if (choices.getAtIndex(ValueLayout.JAVA_LONG, at) != (here ? local : -1)
                    || weights.getAtIndex(ValueLayout.JAVA_FLOAT, at)
                            != (here ? content.weight(source, token, k) : 0)) {
                return false;
            }
        }
        return true;
    }
}
