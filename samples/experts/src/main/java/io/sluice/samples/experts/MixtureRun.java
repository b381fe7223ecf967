package io.sluice.samples.experts;

import io.sluice.collectives.Team;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.samples.train.Corpus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * A mixture of experts that learns to predict the next character, as one rank sees it. Each rank has a part of every step's
 * tokens, and some of the experts. Since experts see their tokens in an order that does not depend on the ranks, any number of
 * them computes the same bits. After some steps each rank keeps a copy of all experts, with which it goes on when ranks are
 * lost. Used by one thread.
 */
public final class MixtureRun implements AutoCloseable {
    /** Tokens of a step, of all ranks together. */
    static final int TOKENS = 384;

    private static final int MEASURED = 2_000;
    private static final int STEPS_A_COPY = 10;
    private static final float RATE = 3e-3f;

    /**
     * What all ranks do alike.
     *
     * @param experts of all ranks together, at least 2
     * @param steps how many
     * @param seed of the experts, and of the choice of tokens
     */
    public record Settings(int experts, int steps, long seed) {}

    /** Learns of each step. */
    @FunctionalInterface
    public interface Progress {
        /**
         * A step was taken; after the loss of ranks, once more.
         *
         * @param step from 1 on
         * @param loss the mean of the step's tokens before it, in nats for a character
         */
        void stepped(int step, double loss);
    }

    /** All experts after a number of steps. */
    private record Copy(int step, List<float[]> states) {}

    private final Settings settings;
    private final Corpus corpus;
    private final Exchange exchange;
    private final TextTokens tokens;
    private final Router router;
    private final int vocabulary;
    private final Deque<Copy> copies = new ArrayDeque<>();
    private final List<Expert> experts = new ArrayList<>();
    private int step;

    /**
     * Has all experts in this process.
     *
     * @throws IOException if the text cannot be read
     */
    public static MixtureRun alone(Settings settings) throws IOException {
        return new MixtureRun(settings, Corpus.novel(), new Alone(settings.experts()));
    }

    /**
     * Has the experts of one rank of a team, which it closes.
     *
     * @param engine of the team
     * @throws IOException if the text cannot be read
     */
    public static MixtureRun of(Settings settings, TransferEngine engine, Team team) throws IOException {
        return new MixtureRun(settings, Corpus.novel(), new TeamExperts(engine, team, settings.experts(), TOKENS));
    }

    MixtureRun(Settings settings, Corpus corpus, Exchange exchange) {
        this.settings = settings;
        this.corpus = corpus;
        this.exchange = exchange;
        vocabulary = corpus.vocabulary().length();
        if (vocabulary > Expert.WIDTH) {
            throw new IllegalArgumentException("a text has at most " + Expert.WIDTH + " different characters");
        }
        tokens = new TextTokens(vocabulary, settings.seed());
        router = new Router(settings.experts(), settings.seed());
        List<float[]> states = new ArrayList<>();
        for (int expert = 0; expert < settings.experts(); expert++) {
            states.add(new Expert(expert, settings.seed()).state());
        }
        copies.add(new Copy(0, states));
        place(copies.getLast());
    }

    /** Makes the experts of this rank what they were. */
    private void place(Copy copy) {
        step = copy.step();
        experts.clear();
        int first = exchange.rank() * exchange.localExperts();
        for (int i = first; i < Math.min(first + exchange.localExperts(), settings.experts()); i++) {
            Expert expert = new Expert(i, settings.seed());
            expert.restore(copy.states().get(i));
            experts.add(expert);
        }
    }

    /**
     * Takes the steps.
     *
     * @param interrupted whether to end early
     */
    public void train(BooleanSupplier interrupted, Progress progress) {
        while (step < settings.steps() && !interrupted.getAsBoolean()) {
            try {
                double loss = learn(step + 1);
                step++;
                if (step % STEPS_A_COPY == 0 || step == settings.steps()) {
                    copy();
                }
                progress.stepped(step, loss);
            } catch (SluiceException e) {
                goOn(e);
            }
        }
    }

    /** With the ranks that are left, from the last copy that all of them have. */
    private void goOn(SluiceException lost) {
        while (true) {
            try {
                exchange.shrink();
                long known = exchange.least(copies.getLast().step());
                while (copies.getLast().step() > known) {
                    copies.removeLast();
                }
                place(copies.getLast());
                return;
            } catch (SluiceException e) {
                // The next team is smaller still.
                lost.addSuppressed(e);
                if (exchange.size() == 1) {
                    throw lost;
                }
            }
        }
    }

    private void copy() {
        int[] counts = new int[exchange.size()];
        for (int rank = 0; rank < counts.length; rank++) {
            int first = rank * exchange.localExperts();
            int last = Math.min(first + exchange.localExperts(), settings.experts());
            counts[rank] = Math.max(0, last - first) * Expert.STATE;
        }
        float[] mine = new float[counts[exchange.rank()]];
        for (int i = 0; i < experts.size(); i++) {
            System.arraycopy(experts.get(i).state(), 0, mine, i * Expert.STATE, Expert.STATE);
        }
        float[] all = exchange.gather(mine, counts);
        List<float[]> states = new ArrayList<>();
        for (int i = 0; i < settings.experts(); i++) {
            states.add(Arrays.copyOfRange(all, i * Expert.STATE, (i + 1) * Expert.STATE));
        }
        copies.addLast(new Copy(step, states));
        // Ranks differ by one at most in what they know.
        while (copies.size() > 2) {
            copies.removeFirst();
        }
    }

    /** The tokens of this rank, and what they are to become. */
    private record Part(short[][] tokens, int[] targets, int[][] choices, float[][] weights) {}

    /** Where a rank's part of some tokens begins. */
    private int begin(int count, int rank) {
        return (int) ((long) count * rank / exchange.size());
    }

    private int[] parts(int count) {
        int[] parts = new int[exchange.size()];
        for (int rank = 0; rank < parts.length; rank++) {
            parts[rank] = begin(count, rank + 1) - begin(count, rank);
        }
        return parts;
    }

    private Part part(int[] text, int[] places) {
        int begin = begin(places.length, exchange.rank());
        int count = begin(places.length, exchange.rank() + 1) - begin;
        Part part = new Part(new short[count][], new int[count], new int[count][], new float[count][]);
        for (int i = 0; i < count; i++) {
            int place = places[begin + i];
            part.tokens[i] = tokens.token(text, place);
            part.targets[i] = text[place];
            Router.Choice choice = router.choose(part.tokens[i]);
            part.choices[i] = choice.experts();
            part.weights[i] = choice.weights();
        }
        return part;
    }

    private double learn(int number) {
        SplittableRandom random = new SplittableRandom(settings.seed() * 1_000_003 + number);
        int[] places = random.ints(TOKENS, TextTokens.CHARACTERS, corpus.training().length)
                .toArray();
        Part part = part(corpus.training(), places);
        float[] losses = new float[part.tokens.length];
        short[][] gradients = new short[part.tokens.length][];
        short[][][] seen;
        try (Exchange.Arrived arrived = exchange.send(part.tokens, part.choices)) {
            seen = rows(arrived);
            short[][] sums = exchange.answer(arrived, compute(seen), part.weights);
            for (int i = 0; i < sums.length; i++) {
                gradients[i] = Bfloat16.of(gradient(sums[i], part.targets[i], losses, i));
            }
        }
        try (Exchange.Arrived arrived = exchange.send(gradients, part.choices)) {
            learn(seen, rows(arrived), number);
        }
        return mean(exchange.gather(losses, parts(TOKENS)));
    }

    private short[][][] rows(Exchange.Arrived arrived) {
        short[][][] rows = new short[experts.size()][][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = arrived.rows(i);
        }
        return rows;
    }

    private short[][][] compute(short[][][] rows) {
        short[][][] results = new short[rows.length][][];
        for (int i = 0; i < rows.length; i++) {
            results[i] = new short[rows[i].length][];
            for (int row = 0; row < rows[i].length; row++) {
                results[i][row] = Bfloat16.of(experts.get(i).compute(Bfloat16.values(rows[i][row])));
            }
        }
        return results;
    }

    /** Writes the loss of a token, and returns its gradient by the sums of the token's experts. */
    private float[] gradient(short[] sums, int target, float[] losses, int token) {
        float[] gradient = Bfloat16.values(sums);
        double greatest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < vocabulary; i++) {
            greatest = Math.max(greatest, gradient[i]);
        }
        double all = 0;
        double[] powers = new double[vocabulary];
        for (int i = 0; i < vocabulary; i++) {
            powers[i] = StrictMath.exp(gradient[i] - greatest);
            all += powers[i];
        }
        losses[token] = (float) -StrictMath.log(powers[target] / all);
        Arrays.fill(gradient, 0);
        for (int i = 0; i < vocabulary; i++) {
            gradient[i] = (float) (powers[i] / all - (i == target ? 1 : 0));
        }
        return gradient;
    }

    /** The rows of gradients are in the order of the tokens that an expert has seen. */
    private void learn(short[][][] seen, short[][][] gradients, int number) {
        int first = exchange.rank() * exchange.localExperts();
        for (int i = 0; i < seen.length; i++) {
            for (int row = 0; row < seen[i].length; row++) {
                float share = router.choose(seen[i][row]).weight(first + i) / TOKENS;
                float[] gradient = Bfloat16.values(gradients[i][row]);
                for (int channel = 0; channel < gradient.length; channel++) {
                    gradient[channel] *= share;
                }
                experts.get(i).learn(Bfloat16.values(seen[i][row]), gradient);
            }
            experts.get(i).step(number, RATE);
        }
    }

    private static double mean(float[] losses) {
        double sum = 0;
        for (float loss : losses) {
            sum += loss;
        }
        return sum / losses.length;
    }

    /**
     * What the network makes of text that it has not learned from.
     *
     * @param loss the mean, in nats for a character
     * @param sha256 of all losses of single tokens and of all experts
     */
    public record Outcome(double loss, String sha256) {}

    /** Measures on all ranks together. */
    public Outcome measure() {
        int[] places = new int[MEASURED];
        Arrays.setAll(places, i -> TextTokens.CHARACTERS + i);
        MessageDigest digest = sha256();
        float[] all = new float[MEASURED];
        for (int begin = 0; begin < MEASURED; begin += TOKENS) {
            int[] some = Arrays.copyOfRange(places, begin, Math.min(begin + TOKENS, MEASURED));
            Part part = part(corpus.heldOut(), some);
            float[] losses = new float[part.tokens.length];
            try (Exchange.Arrived arrived = exchange.send(part.tokens, part.choices)) {
                short[][] sums = exchange.answer(arrived, compute(rows(arrived)), part.weights);
                for (int i = 0; i < sums.length; i++) {
                    gradient(sums[i], part.targets[i], losses, i);
                }
            }
            float[] gathered = exchange.gather(losses, parts(some.length));
            System.arraycopy(gathered, 0, all, begin, gathered.length);
        }
        update(digest, all);
        copies.getLast().states().forEach(state -> update(digest, state));
        return new Outcome(mean(all), HexFormat.of().formatHex(digest.digest()));
    }

    private static void update(MessageDigest digest, float[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Float.BYTES);
        bytes.asFloatBuffer().put(values);
        digest.update(bytes);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** How many ranks there are. */
    public int size() {
        return exchange.size();
    }

    /** The loss of a table of pairs of characters on the text that is measured, in nats for a character. */
    public double bigramLoss() {
        return corpus.bigramLoss();
    }

    @Override
    public void close() {
        exchange.close();
    }
}
