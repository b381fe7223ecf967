package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertCallback;
import io.sluice.experts.LowLatencyResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Low-latency dispatch and combine. */
final class LowLatencyCalls implements ExpertCalls {
    private final ExpertBuffer buffer;
    private final ExpertPlan plan;
    private final ExpertContent content;
    private final ExpertMemory memory;
    private final DispatchOptions options;
    private final CombineOptions combineOptions = CombineOptions.defaults();
    private final ExpertCallback<LowLatencyResult> dispatched;
    private final ExpertCallback<MemoryRegion> combined;
    private @Nullable OperationLoop loop;
    private @Nullable LowLatencyResult result;

    LowLatencyCalls(ExpertBuffer buffer, ExpertPlan plan, ExpertContent content, ExpertMemory memory) {
        this.buffer = buffer;
        this.plan = plan;
        this.content = content;
        this.memory = memory;
        options = DispatchOptions.defaults().withFormat(plan.format());
        dispatched = (brought, error) -> {
            result = brought;
            Objects.requireNonNull(loop).ended(error);
        };
        combined = (sums, error) -> Objects.requireNonNull(loop).ended(error);
    }

    @Override
    public OperationLoop.Operation dispatch() {
        return (number, operations) -> {
            loop = operations;
            release();
            buffer.lowLatencyDispatch(memory.tokens(), 0, memory.choices(), 0, plan.tokens(), options, dispatched);
        };
    }

    @Override
    public OperationLoop.Operation combine() {
        return (number, operations) -> {
            loop = operations;
            LowLatencyResult last = last();
            buffer.lowLatencyCombine(
                    last,
                    last.combineBuffer(),
                    0,
                    memory.choices(),
                    0,
                    memory.weights(),
                    0,
                    memory.sums(),
                    0,
                    combineOptions,
                    combined);
        };
    }

    private LowLatencyResult last() {
        return Objects.requireNonNull(result, "nothing was dispatched");
    }

    private interface Rows {
        void row(int localExpert, int index, int rank, int token);
    }

    /** Visits the rows that the last dispatch has brought. */
    private void each(Rows rows) {
        LowLatencyResult last = last();
        MemorySegment sources = last.sources().segment();
        MemorySegment ranges = last.ranges().segment();
        int most = plan.ranks() * plan.tokens();
        for (int local = 0; local < plan.localExperts(); local++) {
            for (int rank = 0; rank < plan.ranks(); rank++) {
                long range = ranges.getAtIndex(ValueLayout.JAVA_LONG, (long) local * plan.ranks() + rank);
                int begin = (int) (range >>> Integer.SIZE);
                int end = Math.min(most, begin + (int) range);
                for (int i = begin; i < end; i++) {
                    rows.row(local, i, rank, sources.getAtIndex(ValueLayout.JAVA_INT, (long) local * most + i));
                }
            }
        }
    }

    private int expert(int localExpert) {
        return buffer.rank() * plan.localExperts() + localExpert;
    }

    private long at(int localExpert, int index) {
        return (long) localExpert * plan.ranks() * plan.tokens() + index;
    }

    @Override
    public void answer(long block) {
        MemorySegment answers = last().combineBuffer().segment();
        each((local, i, rank, token) ->
                content.answer(block, rank, token, expert(local)).put(answers, at(local, i) * plan.rowBytes()));
    }

    @Override
    public long wrongRows(long block) {
        // by local expert, rank and token, whether a row is to come
        boolean[] awaited = new boolean[plan.localExperts() * plan.ranks() * plan.tokens()];
        long[] wrong = new long[1];
        long count = 0;
        for (int rank = 0; rank < plan.ranks(); rank++) {
            for (int token = 0; token < plan.tokens(); token++) {
                for (int k = 0; k < plan.topK(); k++) {
                    int local = content.choice(rank, token, k) - expert(0);
                    if (local >= 0 && local < plan.localExperts()) {
                        awaited[place(local, rank, token)] = true;
                        count++;
                    }
                }
            }
        }
        long[] missing = {count};
        each((local, i, rank, token) -> {
            boolean known = token >= 0 && token < plan.tokens() && awaited[place(local, rank, token)];
            if (known) {
                awaited[place(local, rank, token)] = false;
                missing[0]--;
            }
            wrong[0] += known && isRight(content.token(block, rank, token), local, i) ? 0 : 1;
        });
        return wrong[0] + missing[0];
    }

    private int place(int localExpert, int rank, int token) {
        return (localExpert * plan.ranks() + rank) * plan.tokens() + token;
    }

    private boolean isRight(ExpertContent.Vector vector, int localExpert, int index) {
        LowLatencyResult last = last();
        MemorySegment rows = last.tokens().segment();
        if (!plan.fp8()) {
            return vector.isIn(rows, at(localExpert, index) * plan.rowBytes());
        }
        long stride = (long) plan.ranks() * plan.tokens() * Float.BYTES;
        return vector.isQuantisedIn(rows, at(localExpert, index) * plan.hidden())
                && vector.hasScales(
                        last.scales().orElseThrow().segment(),
                        localExpert * stride * plan.scales() + (long) index * Float.BYTES,
                        stride);
    }

    @Override
    public long wrongSums(long block) {
        int rank = buffer.rank();
        return memory.wrongSums((sum, token) -> {
            for (int k = 0; k < plan.topK(); k++) {
                sum.add(
                        content.answer(block, rank, token, content.choice(rank, token, k)),
                        content.weight(rank, token, k));
            }
        });
    }

    @Override
    public long vectors() {
        return (long) plan.ranks() * plan.tokens() * plan.topK();
    }

    /** Closes the result that is there. */
    private void release() {
        LowLatencyResult last = result;
        if (last != null) {
            result = null;
            last.close();
        }
    }
}
