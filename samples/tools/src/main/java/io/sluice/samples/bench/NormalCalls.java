package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertCallback;
import io.sluice.experts.NormalLayout;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.NormalResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Dispatch and combine of normal mode, with counts of its own in each dispatch. */
final class NormalCalls implements ExpertCalls {
    private final ExpertBuffer buffer;
    private final ExpertPlan plan;
    private final ExpertContent content;
    private final ExpertMemory memory;
    private final NormalLayout layout;
    private final NormalOptions options;
    private final ExpertCallback<NormalResult> dispatched;
    private final ExpertCallback<MemoryRegion> combined;
    private @Nullable OperationLoop loop;
    private @Nullable NormalResult result;

    NormalCalls(ExpertBuffer buffer, ExpertPlan plan, ExpertContent content, ExpertMemory memory) {
        this.buffer = buffer;
        this.plan = plan;
        this.content = content;
        this.memory = memory;
        layout = buffer.layout(memory.choices(), 0, plan.tokens(), null);
        options = NormalOptions.defaults().withFormat(plan.format());
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
            buffer.dispatch(memory.tokens(), 0, memory.choices(), 0, memory.weights(), 0, layout, options, dispatched);
        };
    }

    @Override
    public OperationLoop.Operation combine() {
        return (number, operations) -> {
            loop = operations;
            buffer.combine(last().handle(), memory.answers(), 0, null, 0, memory.sums(), 0, null, combined);
        };
    }

    private NormalResult last() {
        return Objects.requireNonNull(result, "nothing was dispatched");
    }

    /** Whether a token has an expert on a rank. */
    private boolean goesTo(int from, int token, int rank) {
        for (int k = 0; k < plan.topK(); k++) {
            if (content.choice(from, token, k) / plan.localExperts() == rank) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void answer(long block) {
        NormalResult last = last();
        for (int rank = 0; rank < plan.ranks(); rank++) {
            for (int i = last.firstRow(rank); i < last.firstRow(rank) + last.rowsFrom(rank); i++) {
                int token = last.sources().getAtIndex(ValueLayout.JAVA_INT, i);
                content.answer(block, rank, token, buffer.rank())
                        .put(memory.answers().segment(), i * plan.rowBytes());
            }
        }
    }

    @Override
    public long wrongRows(long block) {
        NormalResult last = last();
        long wrong = 0;
        int row = 0;
        // ordered by rank, and then by token
        for (int rank = 0; rank < plan.ranks(); rank++) {
            for (int token = 0; token < plan.tokens(); token++) {
                if (goesTo(rank, token, buffer.rank())) {
                    wrong += row < last.received() && isRight(last, block, row, rank, token) ? 0 : 1;
                    row++;
                }
            }
        }
        return wrong + Math.abs(last.received() - row);
    }

    private boolean isRight(NormalResult last, long block, int row, int rank, int token) {
        ExpertContent.Vector vector = content.token(block, rank, token);
        if (last.sources().getAtIndex(ValueLayout.JAVA_INT, row) != token || !areChoicesRight(last, row, rank, token)) {
            return false;
        }
        if (!plan.fp8()) {
            return vector.isIn(last.tokens(), row * plan.rowBytes());
        }
        return vector.isQuantisedIn(last.tokens(), (long) row * plan.hidden())
                && vector.hasScales(last.scales().orElseThrow(), (long) row * plan.scales() * Float.BYTES, Float.BYTES);
    }

    private boolean areChoicesRight(NormalResult last, int row, int rank, int token) {
        MemorySegment choices = last.choices().orElseThrow();
        MemorySegment weights = last.weights().orElseThrow();
        for (int k = 0; k < plan.topK(); k++) {
            int local = content.choice(rank, token, k) - buffer.rank() * plan.localExperts();
            boolean here = local >= 0 && local < plan.localExperts();
            long at = (long) row * plan.topK() + k;
            if (choices.getAtIndex(ValueLayout.JAVA_LONG, at) != (here ? local : -1)
                    || weights.getAtIndex(ValueLayout.JAVA_FLOAT, at) != (here ? content.weight(rank, token, k) : 0)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public long wrongSums(long block) {
        int own = buffer.rank();
        return memory.wrongSums((sum, token) -> {
            for (int rank = 0; rank < plan.ranks(); rank++) {
                if (goesTo(own, token, rank)) {
                    sum.add(content.answer(block, own, token, rank), 1);
                }
            }
        });
    }

    @Override
    public long vectors() {
        long vectors = 0;
        for (int from = 0; from < plan.ranks(); from++) {
            for (int token = 0; token < plan.tokens(); token++) {
                for (int rank = 0; rank < plan.ranks(); rank++) {
                    vectors += goesTo(from, token, rank) ? 1 : 0;
                }
            }
        }
        return vectors;
    }

    /** Closes the result that is there, and its handle, so that nothing is allocated for the next ones. */
    private void release() {
        NormalResult last = result;
        if (last != null) {
            result = null;
            last.handle().close();
            last.close();
        }
    }
}
