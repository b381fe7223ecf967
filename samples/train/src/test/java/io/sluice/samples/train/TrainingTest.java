package io.sluice.samples.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A dozen steps of a small model. */
class TrainingTest {
    private static final int STEPS = 12;

    private final Arena arena = Arena.ofShared();
    private Corpus corpus = Corpus.of("two");

    @BeforeEach
    void readTheText() throws IOException {
        corpus = Corpus.novel();
    }

    @AfterEach
    void freeGradients() {
        arena.close();
    }

    @Test
    void lossGoesDown() {
        Trained trained = trainAlone(1, 1);
        assertThat(trained.losses()).hasSize(STEPS);
        assertThat(trained.losses().getFirst()).isBetween(4.0, 6.0);
        assertThat(trained.losses().getLast()).isLessThan(trained.losses().getFirst() - 0.5);
    }

    @Test
    void theSameSeedGivesTheSameBits() {
        Trained first = trainAlone(2, 1);
        Trained second = trainAlone(2, 1);
        assertThat(second.bytes()).isEqualTo(first.bytes());
        assertThat(second.losses()).isEqualTo(first.losses());
        assertThat(trainAlone(2, 2).bytes()).isNotEqualTo(first.bytes());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5})
    void ranksTogetherGetTheBitsOfOneProcess(int ranks) throws Exception {
        Trained alone = trainAlone(ranks, 1);
        for (Trained each : trainTogether(ranks, Integer.MAX_VALUE)) {
            assertThat(each.bytes()).isEqualTo(alone.bytes());
            assertThat(each.losses()).isEqualTo(alone.losses());
        }
    }

    /** One of those that are left computes the lost one's shard as well. */
    @ParameterizedTest
    @ValueSource(ints = {2, 4, 6})
    void ranksThatAreLeftGetTheBitsOfOneProcess(int ranks) throws Exception {
        Trained alone = trainAlone(ranks, 1);
        List<Trained> left = trainTogether(ranks, 5);
        assertThat(left).hasSize(ranks - 1);
        for (Trained each : left) {
            assertThat(each.bytes()).isEqualTo(alone.bytes());
        }
    }

    @Test
    void theRateRisesAndFalls() {
        Training.Plan plan = new Training.Plan(1, 1, 100, 1, 1);
        assertThat(plan.learningRate(1)).isEqualTo(0.1);
        assertThat(plan.learningRate(10)).isEqualTo(1);
        assertThat(plan.learningRate(55)).isBetween(0.5, 0.6);
        assertThat(plan.learningRate(100)).isEqualTo(0.1);
    }

    private record Trained(byte[] bytes, List<Double> losses) {}

    private Trained trainAlone(int shards, long seed) {
        return train(shards, seed, new GradientExchange.Alone(arena.allocate(exchangedBytes())));
    }

    private long exchangedBytes() {
        return Training.exchangedBytes(new Parameters(shape(), 1));
    }

    private ModelShape shape() {
        return new ModelShape(corpus.vocabulary().length(), 16, 2, 2, 24, 16);
    }

    private Trained train(int shards, long seed, GradientExchange exchange) {
        Transformer model = new Transformer(shape(), new Parameters(shape(), seed));
        Training training = new Training(new Training.Plan(shards, 2, STEPS, 1e-2, seed), corpus, model, exchange);
        List<Double> losses = new ArrayList<>();
        try {
            while (training.steps() < STEPS) {
                losses.add(training.step());
            }
        } catch (Lost killed) {
            return new Trained(new byte[0], losses);
        }
        return new Trained(ModelFile.bytes(new ModelFile.Saved(model, corpus.vocabulary())), losses);
    }

    /** Of each rank a thread; the last one is lost in a step. */
    private List<Trained> trainTogether(int ranks, int lostIn) throws Exception {
        Meeting meeting = new Meeting(ranks, lostIn);
        try (ExecutorService threads = Executors.newFixedThreadPool(ranks)) {
            List<Callable<Trained>> all = new ArrayList<>();
            for (int rank = 0; rank < ranks; rank++) {
                GradientExchange exchange = new MetInTurn(meeting, rank, arena.allocate(exchangedBytes()));
                all.add(() -> train(ranks, 1, exchange));
            }
            List<Trained> trained = new ArrayList<>();
            for (Future<Trained> each : threads.invokeAll(all)) {
                trained.add(each.get());
            }
            trained.removeIf(each -> each.bytes().length == 0);
            return trained;
        }
    }

    private static final class Lost extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** Where the threads meet in each step: the last to come adds up for all, as recursive doubling does. */
    private static final class Meeting {
        private final int lostIn;
        private final Set<Integer> ranks;
        private final TreeMap<Integer, MemorySegment> come = new TreeMap<>();
        private int round;
        private boolean complete;

        Meeting(int ranks, int lostIn) {
            this.lostIn = lostIn;
            this.ranks = new TreeSet<>();
            for (int rank = 0; rank < ranks; rank++) {
                this.ranks.add(rank);
            }
        }

        synchronized int position(int rank) {
            return new ArrayList<>(ranks).indexOf(rank);
        }

        synchronized int size() {
            return ranks.size();
        }

        synchronized boolean meet(int rank, MemorySegment gradients) throws InterruptedException {
            come.put(rank, gradients);
            if (come.size() < ranks.size()) {
                int mine = round;
                while (round == mine) {
                    wait();
                }
            } else {
                end();
            }
            if (!ranks.contains(rank)) {
                throw new Lost();
            }
            return complete;
        }

        private void end() {
            complete = ++round != lostIn;
            if (complete) {
                sum();
            } else {
                ranks.remove(ranks.size() - 1);
            }
            come.clear();
            notifyAll();
        }

        private void sum() {
            List<MemorySegment> all = new ArrayList<>(come.values());
            int power = Integer.highestOneBit(all.size());
            for (int position = 0; position < power; position++) {
                if (all.size() > power) {
                    add(all.get(position), all.remove(position + 1));
                }
            }
            for (int distance = 1; distance < power; distance *= 2) {
                for (int position = 0; position < power; position += 2 * distance) {
                    add(all.get(position), all.get(position + distance));
                }
            }
            come.values().forEach(each -> each.copyFrom(all.getFirst()));
        }

        private static void add(MemorySegment sums, MemorySegment more) {
            for (long i = 0; i < sums.byteSize() / Float.BYTES; i++) {
                float sum = sums.getAtIndex(Parameters.FLOAT, i) + more.getAtIndex(Parameters.FLOAT, i);
                sums.setAtIndex(Parameters.FLOAT, i, sum);
            }
        }
    }

    private record MetInTurn(Meeting meeting, int number, MemorySegment gradients) implements GradientExchange {
        @Override
        public int rank() {
            return meeting.position(number);
        }

        @Override
        public int size() {
            return meeting.size();
        }

        @Override
        public boolean sum() {
            try {
                return meeting.meet(number, gradients);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }

        @Override
        public boolean isSame(long number) {
            return true;
        }

        @Override
        public void close() {}
    }
}
