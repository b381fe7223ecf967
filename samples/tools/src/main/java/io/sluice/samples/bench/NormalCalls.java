package io.sluice.samples.bench;

import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.NormalLayout;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.NormalResult;

/** Dispatch and combine of normal mode, with counts of its own in each dispatch. */
final class NormalCalls extends HostExpertCalls<NormalResult> {
    private final NormalLayout layout;
    private final NormalOptions options;

    NormalCalls(ExpertBuffer buffer, ExpertPlan plan, ExpertContent content, ExpertMemory memory) {
        super(buffer, plan, content, memory);
        layout = buffer.layout(memory.choices(), 0, plan.tokens(), null);
        options = NormalOptions.defaults().withFormat(plan.format());
    }

    @Override
    void callDispatch() {
        buffer.dispatch(memory.tokens(), 0, memory.choices(), 0, memory.weights(), 0, layout, options, dispatched);
    }

    @Override
    void callCombine(NormalResult last) {
        buffer.combine(last.handle(), memory.answers(), 0, null, 0, memory.sums(), 0, null, combined);
    }

    @Override
    void release(NormalResult last) {
        last.handle().close();
        last.close();
    }

    @Override
    public ExpertRows rows() {
        NormalResult last = last();
        return new NormalRows(
                plan,
                content,
                buffer.rank(),
                last.received(),
                last.tokens(),
                last.scales().orElse(null),
                last.choices().orElseThrow(),
                last.weights().orElseThrow(),
                last.sources());
    }

    @Override
    public void answer(ExpertRows rows, long block) {
        rows.answer(block, memory.answers().segment());
    }
}
