package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.util.List;

/** A rank's inputs of dispatch and combine, and the place of the sums. */
final class ExpertMemory implements AutoCloseable {
    private static final int LINE = 64;

    private final ExpertPlan plan;
    private final ExpertContent content;
    private final int rank;
    private final ExpertContent.Sum sum;
    private final MemoryRegion tokens;
    private final MemoryRegion choices;
    private final MemoryRegion weights;
    private final MemoryRegion sums;
    private final MemoryRegion answers;

    /**
     * On one rank.
     *
     * @param needsAnswers whether results of a dispatch have no memory for {@link #answers} that the processor reaches
     */
    ExpertMemory(TransferEngine engine, ExpertPlan plan, ExpertContent content, int rank, boolean needsAnswers) {
        this.plan = plan;
        this.content = content;
        this.rank = rank;
        sum = content.new Sum();
        long chosen = (long) plan.tokens() * plan.topK();
        tokens = engine.allocate(plan.tokens() * plan.rowBytes(), RegionOptions.local());
        choices = engine.allocate(chosen * Long.BYTES, RegionOptions.local());
        weights = engine.allocate(chosen * Float.BYTES, RegionOptions.local());
        sums = engine.allocate(plan.tokens() * plan.rowBytes(), RegionOptions.local());
        answers = engine.allocate(needsAnswers ? plan.mostRows() * plan.rowBytes() : LINE, RegionOptions.local());
        content.putChoices(rank, choices.segment());
        content.putWeights(rank, weights.segment());
    }

    MemoryRegion tokens() {
        return tokens;
    }

    MemoryRegion choices() {
        return choices;
    }

    MemoryRegion weights() {
        return weights;
    }

    MemoryRegion sums() {
        return sums;
    }

    /** For what the experts make of tokens. */
    MemoryRegion answers() {
        return answers;
    }

    /** Gets ready for a block: writes its tokens, and spoils where the sums go. */
    void fill(long block) {
        for (int token = 0; token < plan.tokens(); token++) {
            content.token(block, rank, token).put(tokens.segment(), token * plan.rowBytes());
        }
        ExpertContent.poison(sums.segment());
    }

    /** How many of this rank's tokens have a wrong sum. */
    long wrongSums(long block) {
        long wrong = 0;
        for (int token = 0; token < plan.tokens(); token++) {
            sum.answersTo(block, rank, token);
            wrong += sum.isIn(sums.segment(), token * plan.rowBytes()) ? 0 : 1;
        }
        return wrong;
    }

    @Override
    public void close() {
        for (MemoryRegion region : List.of(tokens, choices, weights, sums, answers)) {
            Waiting.await(region.close(), "giving memory back");
        }
    }
}
