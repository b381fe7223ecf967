package io.sluice.samples.command;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.samples.experts.MixtureRun;
import io.sluice.samples.report.JsonText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "experts", header = "Train a mixture of experts that live on several ranks.")
final class ExpertsCommand extends ProgramCommand {
    private static final int MOST_STEPS = 1_000_000;
    private static final int MOST_RANKS = 64;
    private static final int MOST_EXPERTS = 1_024;

    /** About so many lines report the progress. */
    private static final int LINES = 20;

    @Option(names = "--ranks", paramLabel = "N", defaultValue = "2")
    private int ranks;

    @Option(names = "--steps", paramLabel = "N", defaultValue = "300")
    private int steps;

    @Option(names = "--kill", paramLabel = "STEP")
    private @Nullable Integer kill;

    @Option(names = "--experts", paramLabel = "N", defaultValue = "12")
    private int experts;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1")
    private long seed;

    @Option(names = "--rank", hidden = true)
    private int rank;

    @Option(names = "--rank-zero", hidden = true)
    private @Nullable EngineAddress rankZero;

    @Mixin
    private final SummaryOption summary = new SummaryOption();

    @Mixin
    private final TransportOption transport = new TransportOption();

    ExpertsCommand(Termination termination) {
        super(termination);
    }

    /** The outcome, as {@code --json} has it. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record ExpertsSummary(
            int ranks,
            int ranksLeft,
            int experts,
            int steps,
            long seed,
            double seconds,
            List<Double> losses,
            double heldOutLoss,
            double bigramLoss,
            String sha256) {}

    @Override
    public Integer call() throws IOException {
        check();
        MixtureRun.Settings settings = new MixtureRun.Settings(experts, steps, seed);
        if (ranks == 1) {
            try (MixtureRun run = MixtureRun.alone(settings)) {
                introduce(run);
                return train(run, () -> {});
            }
        }
        EngineOptions options = transport
                .engineOptions()
                .listen(ServerOptions.LOOPBACK.host(), ServerOptions.LOOPBACK.port())
                .build();
        try (TransferEngine engine = TransferEngine.open(options)) {
            EngineAddress meeting = rankZero;
            return meeting == null ? lead(settings, engine) : follow(settings, engine, meeting);
        }
    }

    private void check() {
        require(ranks >= 1 && ranks <= MOST_RANKS, "--ranks: give 1 to " + MOST_RANKS + ", not " + ranks);
        require(steps >= 1 && steps <= MOST_STEPS, "--steps: give 1 to " + MOST_STEPS + ", not " + steps);
        require(
                experts >= Math.max(2, ranks) && experts <= MOST_EXPERTS,
                "--experts: give as many as --ranks or more, 2 to " + MOST_EXPERTS + ", not " + experts);
        require(kill == null || ranks > 1, "--kill ends one of several processes: give --ranks 2 or more");
        require(kill == null || (kill >= 2 && kill <= steps), "--kill: give a step from 2 to the last one");
        summary.require();
    }

    private TeamOptions team(EngineAddress meeting) {
        return TeamOptions.rank(rank).of(ranks).rendezvous(meeting).name("experts");
    }

    private int lead(MixtureRun.Settings settings, TransferEngine engine) throws IOException {
        try (RankProcesses others = RankProcesses.start(ranks, arguments(), engine.address())) {
            Team team = others.await(Team.form(engine, team(engine.address())), termination);
            try (MixtureRun run = MixtureRun.of(settings, engine, team)) {
                introduce(run);
                return train(run, others::killLast);
            }
        }
    }

    /** What another rank is started with: it trains the same. */
    private List<String> arguments() {
        List<String> arguments = new ArrayList<>(List.of(
                "experts",
                "--ranks",
                Integer.toString(ranks),
                "--steps",
                Integer.toString(steps),
                "--experts",
                Integer.toString(experts),
                "--seed",
                Long.toString(seed)));
        arguments.addAll(transport.arguments());
        return arguments;
    }

    /** Trains until the first rank's process, which does all the talking, has no more to do or is gone. */
    private int follow(MixtureRun.Settings settings, TransferEngine engine, EngineAddress meeting) throws IOException {
        CompletableFuture<@Nullable Void> end = ServerOptions.inputEnd().toFuture();
        BooleanSupplier ended = () -> end.isDone() || termination.isRequested();
        Team team = RankProcesses.result(Team.form(engine, team(meeting)));
        try (MixtureRun run = MixtureRun.of(settings, engine, team)) {
            run.train(ended, (step, loss) -> {});
            if (!ended.getAsBoolean()) {
                run.measure();
                end.join();
            }
            return ExitCodes.OK;
        }
    }

    private void introduce(MixtureRun run) {
        say(String.format(
                Locale.ROOT,
                """
                %d experts learn to predict the characters of a novel from those before, two experts a character; %s.
                Losses are in nats for a character. A table of pairs of characters has %.3f on what is held out.
                """,
                experts,
                ranks == 1 ? "all are in this process" : "they live in " + ranks + " processes",
                run.bigramLoss()));
    }

    private int train(MixtureRun run, Runnable killing) throws IOException {
        List<Double> losses = new ArrayList<>();
        long start = System.nanoTime();
        say("   step     loss  seconds  ranks");
        boolean[] killed = new boolean[1];
        run.train(termination::isRequested, (step, loss) -> {
            // Behind the loss of a rank some steps are taken again.
            while (losses.size() >= step) {
                losses.removeLast();
            }
            losses.add(loss);
            boolean shown = step == 1 || step == steps || step % Math.max(1, steps / LINES) == 0;
            if (shown || (kill != null && (step == kill || step == kill - 1))) {
                say(String.format(Locale.ROOT, "%7d %8.3f %8.1f %6d", step, loss, secondsSince(start), run.size()));
            }
            if (kill != null && step == kill - 1 && !killed[0]) {
                killed[0] = true;
                killing.run();
                say("        the last rank was killed");
            }
        });
        double seconds = secondsSince(start);
        if (termination.isRequested()) {
            return ExitCodes.FAILED;
        }
        MixtureRun.Outcome outcome = run.measure();
        summary.write(JsonText.of(new ExpertsSummary(
                ranks,
                run.size(),
                experts,
                steps,
                seed,
                seconds,
                losses,
                outcome.loss(),
                run.bigramLoss(),
                outcome.sha256())));
        say(String.format(
                Locale.ROOT,
                """

                On what is held out the experts have a loss of %.3f, %s the %.3f of the table.
                SHA-256 of the experts and of what they make of that text: %s
                """,
                outcome.loss(),
                outcome.loss() < run.bigramLoss() ? "below" : "not below",
                run.bigramLoss(),
                outcome.sha256()));
        return ExitCodes.OK;
    }

    private static double secondsSince(long start) {
        return (System.nanoTime() - start) / 1e9;
    }
}
