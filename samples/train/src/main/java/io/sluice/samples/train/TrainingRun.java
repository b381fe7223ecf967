package io.sluice.samples.train;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A training from end to end, as one rank sees it. Used by one thread. */
public final class TrainingRun {
    /** How many sequences a batch has at least. */
    private static final int BATCH = 8;

    private static final double LEARNING_RATE = 3e-3;
    private static final String BEGINNING = "It is ";
    private static final int WRITTEN = 300;

    /**
     * What to train. All ranks have the same.
     *
     * @param size of a new model
     * @param steps how many; none to measure a model that is loaded
     * @param shards that a batch is divided into, at least as many as there are ranks
     * @param seed of the first parameters, and of the choice of sequences
     * @param load a saved model to begin with, or {@code null} for a new one
     */
    public record Settings(
            ModelSize size,
            int steps,
            int shards,
            long seed,
            @Nullable Path load) {}

    /** Learns of each step. */
    @FunctionalInterface
    public interface Progress {
        /**
         * A step was taken.
         *
         * @param step from 1 on
         * @param loss the mean of the batch before the step, in nats for a character
         */
        void stepped(int step, double loss);
    }

    private final Settings settings;
    private final Corpus corpus;
    private final Transformer model;

    /**
     * Gets all ready.
     *
     * @throws IOException if the model that is to be loaded cannot be
     */
    public TrainingRun(Settings settings) throws IOException {
        this.settings = settings;
        corpus = Corpus.novel();
        Path load = settings.load();
        if (load == null) {
            ModelShape shape = settings.size().shape(corpus.vocabulary().length());
            model = new Transformer(shape, new Parameters(shape, settings.seed()));
        } else {
            ModelFile.Saved saved = ModelFile.load(load);
            if (!saved.vocabulary().equals(corpus.vocabulary())) {
                throw new IOException(load + " is a model of other characters than those of the text");
            }
            model = saved.model();
        }
    }

    /** The memory that an exchange of gradients needs, in bytes. */
    public long exchangedBytes() {
        return Training.exchangedBytes(model.parameters());
    }

    /** How many parameters the model has. */
    public long parameters() {
        return model.parameters().count();
    }

    /** How many characters the text has that the model learns from. */
    public int characters() {
        return corpus.training().length;
    }

    /** How many characters are held out. */
    public int heldOutCharacters() {
        return corpus.heldOut().length;
    }

    /** The loss of a table of pairs of characters on the held-out text, in nats for a character. */
    public double bigramLoss() {
        return corpus.bigramLoss();
    }

    /**
     * Takes the steps.
     *
     * @param exchange adds up the gradients of the ranks
     * @param interrupted whether to end early
     */
    public void train(GradientExchange exchange, BooleanSupplier interrupted, Progress progress) {
        if (settings.steps() == 0) {
            return;
        }
        int sequences = (BATCH + settings.shards() - 1) / settings.shards();
        Training.Plan plan =
                new Training.Plan(settings.shards(), sequences, settings.steps(), LEARNING_RATE, settings.seed());
        Training training = new Training(plan, corpus, model, exchange);
        while (training.steps() < settings.steps() && !interrupted.getAsBoolean()) {
            double loss = training.step();
            progress.stepped(training.steps(), loss);
        }
    }

    /** The loss of the model on the held-out text, in nats for a character. */
    public double heldOutLoss() {
        return corpus.loss(model);
    }

    /** What the model writes: the same for the same parameters and seed. */
    public String text() {
        return new Author(model, corpus.vocabulary()).write(BEGINNING, WRITTEN, settings.seed());
    }

    /** Whether the parameters of all ranks have the same bits; every rank calls it. */
    public boolean isSame(GradientExchange exchange) {
        return exchange.isSame(ByteBuffer.wrap(digest()).getLong());
    }

    /** The SHA-256 of the model as it is saved. */
    public String checksum() {
        return HexFormat.of().formatHex(digest());
    }

    private byte[] digest() {
        try {
            return MessageDigest.getInstance("SHA-256").digest(ModelFile.bytes(saved()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private ModelFile.Saved saved() {
        return new ModelFile.Saved(model, corpus.vocabulary());
    }

    /** Saves the model in the safetensors format. */
    public void save(Path file) throws IOException {
        ModelFile.save(saved(), file);
    }
}
