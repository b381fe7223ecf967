package io.sluice.samples.command;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.sluice.samples.report.JsonText;
import io.sluice.samples.train.GradientExchange;
import io.sluice.samples.train.ModelSize;
import io.sluice.samples.train.TrainingRun;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "train", header = "Train a small language model.")
final class TrainCommand extends ProgramCommand {
    private static final int MOST_STEPS = 1_000_000;
    private static final int MOST_SHARDS = 64;

    /** About so many lines tell of the progress. */
    private static final int LINES = 20;

    @Option(names = "--model", paramLabel = "SIZE", defaultValue = "standard")
    private ModelSize size = ModelSize.STANDARD;

    @Option(names = "--steps", paramLabel = "N", defaultValue = "300")
    private int steps;

    @Option(names = "--shards", paramLabel = "N", defaultValue = "1")
    private int shards;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1")
    private long seed;

    @Option(names = "--load", paramLabel = "FILE")
    private @Nullable Path load;

    @Option(names = "--save", paramLabel = "FILE")
    private @Nullable Path save;

    @Mixin
    private final SummaryOption summary = new SummaryOption();

    TrainCommand(Termination termination) {
        super(termination);
    }

    /** The outcome, as {@code --json} has it. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record TrainSummary(
            int steps,
            int shards,
            long seed,
            long parameters,
            double seconds,
            List<Double> losses,
            double heldOutLoss,
            double bigramLoss,
            String sha256,
            String text) {}

    @Override
    public Integer call() throws IOException {
        require(steps >= 0 && steps <= MOST_STEPS, "--steps: give 0 to " + MOST_STEPS + ", not " + steps);
        require(steps > 0 || load != null, "--steps 0 is to measure a model: give --load, too");
        require(shards >= 1 && shards <= MOST_SHARDS, "--shards: give 1 to " + MOST_SHARDS + ", not " + shards);
        summary.require();
        if (save != null) {
            WholeFile.require("--save", save);
        }
        TrainingRun run = new TrainingRun(new TrainingRun.Settings(size, steps, shards, seed, load));
        say(String.format(
                Locale.ROOT, """
                A model of %,d parameters learns from %,d characters of a novel; %,d more are held out.
                Losses are in nats for a character. A table of pairs of characters has %.3f on what is held out.
                """, run.parameters(), run.characters(), run.heldOutCharacters(), run.bigramLoss()));
        try (Arena arena = Arena.ofConfined();
                GradientExchange exchange = new GradientExchange.Alone(arena.allocate(run.exchangedBytes()))) {
            return train(run, exchange);
        }
    }

    private int train(TrainingRun run, GradientExchange exchange) throws IOException {
        List<Double> losses = new ArrayList<>();
        long start = System.nanoTime();
        if (steps > 0) {
            say("   step     loss  seconds");
        }
        run.train(exchange, termination::isRequested, (step, loss) -> {
            losses.add(loss);
            if (step == 1 || step == steps || step % Math.max(1, steps / LINES) == 0) {
                say(String.format(Locale.ROOT, "%7d %8.3f %8.1f", step, loss, secondsSince(start)));
            }
        });
        double seconds = secondsSince(start);
        if (termination.isRequested()) {
            return ExitCodes.FAILED;
        }
        if (save != null) {
            run.save(save);
        }
        TrainSummary found = new TrainSummary(
                steps,
                shards,
                seed,
                run.parameters(),
                seconds,
                losses,
                run.heldOutLoss(),
                run.bigramLoss(),
                run.checksum(),
                run.text());
        summary.write(JsonText.of(found));
        say(String.format(
                Locale.ROOT,
                """

                On what is held out the model has a loss of %.3f, %s %.3f of the table.
                SHA-256 of the model: %s
                The model writes:

                %s""",
                found.heldOutLoss(),
                found.heldOutLoss() < found.bigramLoss() ? "below the" : "not below the",
                found.bigramLoss(),
                found.sha256(),
                found.text()));
        return ExitCodes.OK;
    }

    private static double secondsSince(long start) {
        return (System.nanoTime() - start) / 1e9;
    }
}
