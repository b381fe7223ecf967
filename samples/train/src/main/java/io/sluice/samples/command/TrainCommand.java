package io.sluice.samples.command;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.samples.report.JsonText;
import io.sluice.samples.train.GradientExchange;
import io.sluice.samples.train.ModelSize;
import io.sluice.samples.train.TeamExchange;
import io.sluice.samples.train.TrainingRun;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "train",
        header = "Train a character-level transformer on several ranks, whose gradients an all-reduce adds up.")
final class TrainCommand extends ProgramCommand {
    private static final int MOST_STEPS = 1_000_000;
    private static final int MOST_RANKS = 64;

    /** About so many lines tell of the progress. */
    private static final int LINES = 20;

    @Option(names = "--ranks", paramLabel = "N", defaultValue = "2")
    private int ranks;

    @Option(names = "--steps", paramLabel = "N", defaultValue = "300")
    private int steps;

    @Option(names = "--kill", paramLabel = "STEP")
    private @Nullable Integer kill;

    @Option(names = "--shards", paramLabel = "N")
    private @Nullable Integer givenShards;

    @Option(names = "--model", paramLabel = "SIZE", defaultValue = "standard")
    private ModelSize size = ModelSize.STANDARD;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1")
    private long seed;

    @Option(names = "--load", paramLabel = "FILE")
    private @Nullable Path load;

    @Option(names = "--save", paramLabel = "FILE")
    private @Nullable Path save;

    @Option(names = "--rank", hidden = true)
    private int rank;

    @Option(names = "--rank-zero", hidden = true)
    private @Nullable EngineAddress rankZero;

    @Mixin
    private final SummaryOption summary = new SummaryOption();

    @Mixin
    private final TransportOption transport = new TransportOption();

    TrainCommand(Termination termination) {
        super(termination);
    }

    /** The outcome, as {@code --json} has it. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record TrainSummary(
            int ranks,
            int ranksLeft,
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
        check();
        TrainingRun run = new TrainingRun(new TrainingRun.Settings(size, steps, shards(), seed, load));
        if (ranks == 1) {
            introduce(run);
            try (Arena arena = Arena.ofConfined();
                    GradientExchange exchange = new GradientExchange.Alone(arena.allocate(run.exchangedBytes()))) {
                return train(run, exchange, () -> {});
            }
        }
        EngineOptions options = transport
                .engineOptions()
                .listen(ServerOptions.LOOPBACK.host(), ServerOptions.LOOPBACK.port())
                .build();
        try (TransferEngine engine = TransferEngine.open(options)) {
            EngineAddress meeting = rankZero;
            return meeting == null ? lead(run, engine) : follow(run, engine, meeting);
        }
    }

    private void check() {
        require(ranks >= 1 && ranks <= MOST_RANKS, "--ranks: give 1 to " + MOST_RANKS + ", not " + ranks);
        require(steps >= 0 && steps <= MOST_STEPS, "--steps: give 0 to " + MOST_STEPS + ", not " + steps);
        require(steps > 0 || load != null, "--steps 0 is to measure a model: give --load, too");
        require(
                shards() >= ranks && shards() <= MOST_RANKS,
                "--shards: give as many as --ranks or more, at most " + MOST_RANKS + ", not " + shards());
        require(kill == null || ranks > 1, "--kill ends one of several processes: give --ranks 2 or more");
        require(kill == null || (kill >= 2 && kill <= steps), "--kill: give a step from 2 to the last one");
        summary.require();
        if (save != null) {
            WholeFile.require("--save", save);
        }
    }

    private int shards() {
        return givenShards == null ? ranks : givenShards;
    }

    private TeamOptions team(EngineAddress meeting) {
        return TeamOptions.rank(rank).of(ranks).rendezvous(meeting).name("train");
    }

    private int lead(TrainingRun run, TransferEngine engine) throws IOException {
        introduce(run);
        try (RankProcesses others = RankProcesses.start(ranks, arguments(), engine.address())) {
            Team team = others.await(Team.form(engine, team(engine.address())), termination);
            try (GradientExchange exchange = new TeamExchange(engine, team, run.exchangedBytes())) {
                return train(run, exchange, others::killLast);
            }
        }
    }

    /** What another rank is started with: it trains the same. */
    private List<String> arguments() {
        List<String> arguments = new ArrayList<>(List.of(
                "train",
                "--ranks",
                Integer.toString(ranks),
                "--steps",
                Integer.toString(steps),
                "--shards",
                Integer.toString(shards()),
                "--model",
                size.toString(),
                "--seed",
                Long.toString(seed)));
        if (load != null) {
            arguments.addAll(List.of("--load", load.toString()));
        }
        arguments.addAll(transport.arguments());
        return arguments;
    }

    /** Trains until the first rank's process, which does all the talking, has no more to do or is gone. */
    private int follow(TrainingRun run, TransferEngine engine, EngineAddress meeting) {
        CompletableFuture<@Nullable Void> end = ServerOptions.inputEnd().toFuture();
        BooleanSupplier ended = () -> end.isDone() || termination.isRequested();
        try (GradientExchange exchange = new TeamExchange(
                engine, RankProcesses.result(Team.form(engine, team(meeting))), run.exchangedBytes())) {
            run.train(exchange, ended, (step, loss) -> {});
            if (!ended.getAsBoolean()) {
                run.isSame(exchange);
                end.join();
            }
            return ExitCodes.OK;
        }
    }

    private void introduce(TrainingRun run) {
        say(String.format(
                Locale.ROOT,
                """
                A model of %,d parameters learns from %,d characters of a novel; %,d more are held out.
                Each step has a batch of %d shards; %s.
                Losses are in nats for a character. A table of pairs of characters has %.3f on what is held out.
                """,
                run.parameters(),
                run.characters(),
                run.heldOutCharacters(),
                shards(),
                ranks == 1 ? "this process computes all" : ranks + " processes add up their gradients",
                run.bigramLoss()));
    }

    private int train(TrainingRun run, GradientExchange exchange, Runnable killing) throws IOException {
        List<Double> losses = new ArrayList<>();
        long start = System.nanoTime();
        if (steps > 0) {
            say("   step     loss  seconds  ranks");
        }
        run.train(exchange, termination::isRequested, (step, loss) -> {
            losses.add(loss);
            boolean shown = step == 1 || step == steps || step % Math.max(1, steps / LINES) == 0;
            if (shown || (kill != null && (step == kill || step == kill - 1))) {
                say(String.format(
                        Locale.ROOT, "%7d %8.3f %8.1f %6d", step, loss, secondsSince(start), exchange.size()));
            }
            if (kill != null && step == kill - 1) {
                killing.run();
                say("        the last rank was killed");
            }
        });
        double seconds = secondsSince(start);
        if (termination.isRequested()) {
            return ExitCodes.FAILED;
        }
        if (!run.isSame(exchange)) {
            throw CommandFailure.failed("the ranks have parameters of different bits");
        }
        if (save != null) {
            run.save(save);
        }
        TrainSummary found = new TrainSummary(
                ranks,
                exchange.size(),
                steps,
                shards(),
                seed,
                run.parameters(),
                seconds,
                losses,
                run.heldOutLoss(),
                run.bigramLoss(),
                run.checksum(),
                run.text());
        summary.write(JsonText.of(found));
        conclude(found);
        return ExitCodes.OK;
    }

    private void conclude(TrainSummary found) {
        say(String.format(
                Locale.ROOT,
                """

                On what is held out the model has a loss of %.3f, %s the %.3f of the table.
                SHA-256 of the model%s: %s
                The model writes:

                %s""",
                found.heldOutLoss(),
                found.heldOutLoss() < found.bigramLoss() ? "below" : "not below",
                found.bigramLoss(),
                found.ranksLeft() > 1 ? ", the same on " + found.ranksLeft() + " ranks" : "",
                found.sha256(),
                found.text()));
    }

    private static double secondsSince(long start) {
        return (System.nanoTime() - start) / 1e9;
    }
}
