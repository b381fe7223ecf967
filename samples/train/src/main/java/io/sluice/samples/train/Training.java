package io.sluice.samples.train;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Steps of a training. The batch of a step has a number of shards that does not depend on the ranks. Their gradients are
 * added up in the order in which an all-reduce by recursive doubling adds up those of as many ranks: so fewer ranks, or one
 * process, compute the same bits. Used by one thread.
 */
final class Training {
    /**
     * What is trained, and how.
     *
     * @param shards of a batch, at least as many as there are ranks
     * @param sequences of a shard
     * @param steps after which the learning rate has gone down to a tenth
     * @param learningRate its highest, after the first tenth of the steps
     * @param seed of the choice of sequences
     */
    record Plan(int shards, int sequences, int steps, double learningRate, long seed) {
        Plan {
            if (shards < 1 || sequences < 1 || steps < 1 || learningRate <= 0) {
                throw new IllegalArgumentException("a training needs a shard, a sequence, a step and a rate");
            }
        }

        double learningRate(int step) {
            int warmUp = Math.max(1, steps / 10);
            double falling =
                    (1 + StrictMath.cos(Math.PI * Math.max(0, step - warmUp) / Math.max(1, steps - warmUp))) / 2;
            return learningRate * Math.min(1, (double) step / warmUp) * (0.1 + 0.9 * falling);
        }
    }

    private final Plan plan;
    private final Corpus corpus;
    private final Transformer model;
    private final Parameters parameters;
    private final GradientExchange exchange;
    private final AdamW optimizer;
    private final List<MemorySegment> sums = new ArrayList<>();
    private int step;

    Training(Plan plan, Corpus corpus, Transformer model, GradientExchange exchange) {
        this.plan = plan;
        this.corpus = corpus;
        this.model = model;
        this.parameters = model.parameters();
        this.exchange = exchange;
        sums.add(exchange.gradients());
        optimizer = new AdamW(parameters);
    }

    /** How many bytes the gradients need that ranks add up, and the loss after them. */
    static long exchangedBytes(Parameters parameters) {
        return (parameters.count() + 1) * Float.BYTES;
    }

    /** How many steps were taken. */
    int steps() {
        return step;
    }

    Transformer model() {
        return model;
    }

    /**
     * Takes a step.
     *
     * @return the mean loss of the characters of its batch, before it
     */
    double step() {
        step++;
        do {
            compute(groups().get(exchange.rank()), 0);
        } while (!exchange.sum());
        long characters =
                (long) plan.shards() * plan.sequences() * model.shape().context();
        optimizer.step(exchange.gradients(), characters, step, plan.learningRate(step));
        return exchange.gradients().getAtIndex(Parameters.FLOAT, parameters.count()) / characters;
    }

    /** Shards whose gradients are added up: one, or those of two groups. */
    private sealed interface Group {
        record Shard(int number) implements Group {}

        record Sum(Group first, Group second) implements Group {}
    }

    /** The group of each rank. All together are always the same sum. */
    private List<Group> groups() {
        List<Group> groups = new ArrayList<>();
        for (int shard = 0; shard < plan.shards(); shard++) {
            groups.add(new Group.Shard(shard));
        }
        while (groups.size() > exchange.size()) {
            // Of n ranks, with p the power of two below n, the first n - p pairs are added up before all else.
            int pair = 2 * (groups.size() - Integer.highestOneBit(groups.size() - 1) - 1);
            groups.set(pair, new Group.Sum(groups.get(pair), groups.remove(pair + 1)));
        }
        return groups;
    }

    private void compute(Group group, int depth) {
        switch (group) {
            case Group.Shard(int shard) -> compute(shard, sums(depth).fill((byte) 0));
            case Group.Sum(Group first, Group second) -> {
                compute(first, depth);
                compute(second, depth + 1);
                add(sums(depth + 1), sums(depth));
            }
        }
    }

    private void compute(int shard, MemorySegment sums) {
        float loss = 0;
        for (int i = 0; i < plan.sequences(); i++) {
            int length = model.shape().context() + 1;
            loss += (float) model.learn(corpus.sequence(plan.seed(), step, shard * plan.sequences() + i, length));
        }
        parameters.moveGradientsTo(sums);
        sums.setAtIndex(Parameters.FLOAT, parameters.count(), loss);
    }

    private MemorySegment sums(int depth) {
        while (sums.size() <= depth) {
            sums.add(Arena.ofAuto().allocate(exchangedBytes(parameters)));
        }
        return sums.get(depth);
    }

    private void add(MemorySegment more, MemorySegment sum) {
        for (long i = 0; i <= parameters.count(); i++) {
            float both = sum.getAtIndex(Parameters.FLOAT, i) + more.getAtIndex(Parameters.FLOAT, i);
            sum.setAtIndex(Parameters.FLOAT, i, both);
        }
    }
}
