package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertCallback;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Calls with callbacks in memory of the host.
 *
 * @param <R> what a dispatch gives
 */
abstract class HostExpertCalls<R> implements ExpertCalls {
    final ExpertBuffer buffer;
    final ExpertPlan plan;
    final ExpertContent content;
    final ExpertMemory memory;
    final ExpertCallback<R> dispatched;
    final ExpertCallback<MemoryRegion> combined;
    private @Nullable OperationLoop loop;
    private @Nullable R result;

    HostExpertCalls(ExpertBuffer buffer, ExpertPlan plan, ExpertContent content, ExpertMemory memory) {
        this.buffer = buffer;
        this.plan = plan;
        this.content = content;
        this.memory = memory;
        dispatched = (brought, error) -> {
            result = brought;
            Objects.requireNonNull(loop).ended(error);
        };
        combined = (sums, error) -> Objects.requireNonNull(loop).ended(error);
    }

    /** Calls dispatch. */
    abstract void callDispatch();

    /** Calls combine. */
    abstract void callCombine(R last);

    /** Closes what a dispatch has given, so that nothing is allocated for the next ones. */
    abstract void release(R last);

    @Override
    public final OperationLoop.Operation dispatch() {
        return (number, operations) -> {
            loop = operations;
            R last = result;
            if (last != null) {
                result = null;
                release(last);
            }
            callDispatch();
        };
    }

    @Override
    public final OperationLoop.Operation combine() {
        return (number, operations) -> {
            loop = operations;
            callCombine(last());
        };
    }

    final R last() {
        return Objects.requireNonNull(result, "nothing was dispatched");
    }

    @Override
    public final void fill(long block) {
        memory.fill(block);
    }

    @Override
    public final long wrongSums(long block) {
        return memory.wrongSums(block);
    }

    @Override
    public final String backend() {
        return buffer.backend();
    }

    @Override
    public final @Nullable DeviceMicros deviceMicros(RankControl control) {
        return null;
    }

    @Override
    public final void close() {
        Waiting.await(buffer.closeAsync(), "closing the buffer");
    }
}
