package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.LowLatencyResult;

/** Low-latency dispatch and combine. */
final class LowLatencyCalls extends HostExpertCalls<LowLatencyResult> {
    private final DispatchOptions options;
    private final CombineOptions combineOptions = CombineOptions.defaults();

    LowLatencyCalls(ExpertBuffer buffer, ExpertPlan plan, ExpertContent content, ExpertMemory memory) {
        super(buffer, plan, content, memory);
        options = DispatchOptions.defaults().withFormat(plan.format());
    }

    @Override
    void callDispatch() {
        buffer.lowLatencyDispatch(memory.tokens(), 0, memory.choices(), 0, plan.tokens(), options, dispatched);
    }

    @Override
    void callCombine(LowLatencyResult last) {
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
    }

    @Override
    void release(LowLatencyResult last) {
        last.close();
    }

    @Override
    public ExpertRows rows() {
        LowLatencyResult last = last();
        return new LowLatencyRows(
                plan,
                content,
                buffer.rank(),
                last.tokens().segment(),
                last.scales().map(MemoryRegion::segment).orElse(null),
                last.sources().segment(),
                last.ranges().segment());
    }

    @Override
    public void answer(ExpertRows rows, long block) {
        rows.answer(block, last().combineBuffer().segment());
    }
}
