package io.sluice.samples.bench;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a low-latency dispatch, laid out as {@link io.sluice.experts.LowLatencyResult} says.
 *
 * @param scales {@code null} where nothing is quantised
 */
record LowLatencyRows(
        ExpertPlan plan,
        ExpertContent content,
        int rank,
        MemorySegment tokens,
        @Nullable MemorySegment scales,
        MemorySegment sources,
        MemorySegment ranges)
        implements ExpertRows {
    private interface Visitor {
        void row(int localExpert, int index, int source, int token);
    }

    private void each(Visitor visitor) {
        int most = plan.ranks() * plan.tokens();
        for (int local = 0; local < plan.localExperts(); local++) {
            for (int source = 0; source < plan.ranks(); source++) {
                long range = ranges.getAtIndex(ValueLayout.JAVA_LONG, (long) local * plan.ranks() + source);
                int begin = (int) (range >>> Integer.SIZE);
                int end = Math.min(most, begin + (int) range);
                for (int i = begin; i < end; i++) {
                    visitor.row(local, i, source, sources.getAtIndex(ValueLayout.JAVA_INT, (long) local * most + i));
                }
            }
        }
    }

    private int expert(int localExpert) {
        return rank * plan.localExperts() + localExpert;
    }

    private long at(int localExpert, int index) {
        return (long) localExpert * plan.ranks() * plan.tokens() + index;
    }

    @Override
    public void answer(long block, MemorySegment answers) {
        each((local, i, source, token) ->
                content.answer(block, source, token, expert(local)).put(answers, at(local, i) * plan.rowBytes()));
    }

    @Override
    public long wrong(long block) {
        // by local expert, rank and token, whether a row is to come
        boolean[] awaited = new boolean[plan.localExperts() * plan.ranks() * plan.tokens()];
        long[] wrong = new long[1];
        long count = 0;
        for (int source = 0; source < plan.ranks(); source++) {
            for (int token = 0; token < plan.tokens(); token++) {
                for (int k = 0; k < plan.topK(); k++) {
                    int local = content.choice(source, token, k) - expert(0);
                    if (local >= 0 && local < plan.localExperts()) {
                        awaited[place(local, source, token)] = true;
                        count++;
                    }
                }
            }
        }
        long[] missing = {count};
        each((local, i, source, token) -> {
            boolean known = token >= 0 && token < plan.tokens() && awaited[place(local, source, token)];
            if (known) {
                awaited[place(local, source, token)] = false;
                missing[0]--;
            }
            wrong[0] += known && isRight(content.token(block, source, token), local, i) ? 0 : 1;
        });
        return wrong[0] + missing[0];
    }

    private int place(int localExpert, int source, int token) {
        return (localExpert * plan.ranks() + source) * plan.tokens() + token;
    }

    private boolean isRight(ExpertContent.Vector vector, int localExpert, int index) {
        if (scales == null) {
            return vector.isIn(tokens, at(localExpert, index) * plan.rowBytes());
        }
        long stride = (long) plan.ranks() * plan.tokens() * Float.BYTES;
        return vector.isQuantisedIn(tokens, at(localExpert, index) * plan.hidden())
                && vector.hasScales(scales, localExpert * stride * plan.scales() + (long) index * Float.BYTES, stride);
    }
}
