package io.sluice.samples.command;

import io.sluice.collectives.Algorithm;
import io.sluice.collectives.AlgorithmTable;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.jni.MachineFacts;
import io.sluice.samples.bench.AlgorithmTuning;
import io.sluice.samples.bench.BenchCollective;
import io.sluice.samples.bench.BenchException;
import io.sluice.samples.bench.CollectivePlan;
import io.sluice.samples.bench.CollectiveRun;
import io.sluice.samples.report.ByteSize;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The part of the bench command that measures collectives: this process is rank 0, and starts the others. */
final class CollectiveBench {
    private static final int MOST_RANKS = 64;
    private static final long KIB = 1L << 10;
    private static final List<Long> TUNED_SIZES =
            List.of(8L, 256L, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, KIB * KIB, 4 * KIB * KIB, 16 * KIB * KIB);
    private static final List<String> OWN = List.of(
            "--ranks",
            "--type",
            "--operation",
            "--persistent",
            "--algorithm",
            "--table",
            "--tune",
            "--rank",
            "--rank-zero");

    /** A rank that is left learns within this that the first one, which has ended, is gone. */
    private static final Duration PARENT_GONE = Duration.ofSeconds(3);

    private static final String NAME = "bench";

    @Option(names = "--ranks", paramLabel = "N", split = ",", defaultValue = "2")
    private List<Integer> ranks = new ArrayList<>();

    @Option(names = "--type", paramLabel = "TYPE", defaultValue = "float32")
    private ElementType type = ElementType.FLOAT32;

    @Option(names = "--operation", paramLabel = "HOW", defaultValue = "sum")
    private ReduceOperation operation = ReduceOperation.SUM;

    @Option(names = "--persistent")
    private boolean persistent;

    @Option(names = "--algorithm", paramLabel = "NAME", defaultValue = "auto")
    private Algorithm algorithm = Algorithm.AUTO;

    @Option(names = "--table", paramLabel = "FILE")
    private @Nullable Path table;

    @Option(names = "--tune", paramLabel = "FILE")
    private @Nullable Path tune;

    @Option(names = "--rank", hidden = true)
    private int rank;

    @Option(names = "--rank-zero", hidden = true)
    private @Nullable EngineAddress rankZero;

    /**
     * What the command's other options say.
     *
     * @param cpu the processors that the ranks are bound to, one each, in turn; {@code null} for none
     * @param allowed those that may be used
     */
    record Measuring(
            List<BenchCollective> collectives,
            List<Long> sizes,
            Duration duration,
            Duration warmup,
            boolean verify,
            @Nullable CpuList cpu,
            CpuList allowed) {
        CollectivePlan plan(CollectiveBench options, int count) {
            return new CollectivePlan(
                    collectives,
                    count,
                    sizes,
                    options.type,
                    options.operation,
                    options.algorithm,
                    options.tune != null,
                    options.persistent,
                    verify,
                    duration,
                    warmup,
                    cpu == null ? allowed.size() : cpu.size());
        }

        /** What binds the process of a rank to its processor. */
        List<String> launcher(int which) {
            return cpu == null ? List.of() : Affinity.launcher("--cpu", cpu.single(which % cpu.size()), allowed);
        }
    }

    /** Complains about options of collectives where none is measured. */
    void refuse(Predicate<String> isGiven) {
        for (String option : OWN) {
            ProgramCommand.require(!isGiven.test(option), option + " is for --collective");
        }
    }

    /** Complains about what makes no sense, before anything is started. */
    void check(List<BenchCollective> collectives, Predicate<String> isGiven) {
        for (int count : ranks) {
            ProgramCommand.require(
                    count >= 1 && count <= MOST_RANKS, "--ranks: give 1 to " + MOST_RANKS + ", not " + count);
        }
        for (BenchCollective collective : collectives) {
            ProgramCommand.require(
                    algorithm == Algorithm.AUTO || collective.algorithms().contains(algorithm),
                    "--algorithm: " + algorithm + " does not serve " + collective + "; these do: auto, "
                            + collective.algorithms().stream()
                                    .map(Algorithm::toString)
                                    .collect(Collectors.joining(", ")));
        }
        if (collectives.contains(BenchCollective.SENDRECV)) {
            ProgramCommand.require(!persistent, "--persistent is not for sendrecv, which cannot be prepared");
            ProgramCommand.require(
                    algorithm == Algorithm.AUTO, "--algorithm is not for sendrecv, which has no choice of them");
            ProgramCommand.require(!ranks.contains(1), "sendrecv takes --ranks 2 or more");
        }
        if (tune != null) {
            ProgramCommand.require(
                    !isGiven.test("--algorithm"), "--tune measures every algorithm: leave --algorithm out");
            ProgramCommand.require(table == null, "--tune makes a table: leave --table out");
            ProgramCommand.require(
                    collectives.stream()
                            .anyMatch(collective -> collective.algorithms().size() > 1),
                    "--tune: these have no choice of algorithms: "
                            + collectives.stream()
                                    .map(BenchCollective::toString)
                                    .collect(Collectors.joining(", ")));
            WholeFile.require("--tune", tune);
        }
        ProgramCommand.require(
                table == null || algorithm == Algorithm.AUTO,
                "--table chooses algorithms, and so does --algorithm: give one of them");
        if (table != null) {
            ProgramCommand.require(Files.isReadable(table), "--table: " + table + " cannot be read");
        }
    }

    /** The sizes where none are given. */
    List<Long> usualSizes(List<Long> otherwise) {
        return tune == null ? otherwise : TUNED_SIZES;
    }

    /**
     * Measures all, for one number of ranks after the other.
     *
     * @return the exit status
     */
    int measure(
            Measuring measuring,
            TransportOption transport,
            BenchOutput output,
            Termination termination,
            PrintWriter out,
            BooleanSupplier interrupted)
            throws IOException {
        AlgorithmTable algorithms = algorithms();
        EngineAddress meeting = rankZero;
        if (meeting != null) {
            return follow(measuring, transport, algorithms, meeting, termination);
        }
        List<CollectivePlan> plans =
                ranks.stream().map(count -> measuring.plan(this, count)).toList();
        plans.forEach(CollectiveBench::requireMemory);
        AlgorithmTuning tuning = new AlgorithmTuning();
        for (CollectivePlan plan : plans) {
            lead(measuring, plan, transport, algorithms, output, termination, tuning, interrupted);
        }
        if (tune != null) {
            String text = tuning.table();
            WholeFile.write(tune, text);
            out.print(text);
            out.flush();
        }
        return output.finish();
    }

    private static void requireMemory(CollectivePlan plan) {
        long available = MachineFacts.availableMemory();
        try {
            long bytes = plan.bytes();
            ProgramCommand.require(
                    available < 0 || bytes <= available / 2,
                    "--size: the buffers of " + plan.ranks() + " ranks take " + ByteSize.format(bytes)
                            + ", more than half of the " + ByteSize.format(available)
                            + " that are free; give smaller sizes or fewer ranks");
        } catch (ArithmeticException e) {
            throw CommandFailure.usage("--size: the buffers of " + plan.ranks() + " ranks take more than 2^63 bytes");
        }
    }

    private AlgorithmTable algorithms() throws IOException {
        Path file = table;
        if (file == null) {
            return AlgorithmTable.defaults();
        }
        try {
            return AlgorithmTable.parse(WholeFile.read("--table", file));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage("--table: " + file + ": " + e.getMessage());
        }
    }

    private TransferEngine engine(TransportOption transport) {
        return TransferEngine.open(transport
                .engineOptions()
                .listen(ServerOptions.LOOPBACK.host(), ServerOptions.LOOPBACK.port())
                .build());
    }

    private static TeamOptions team(int which, int count, EngineAddress meeting, AlgorithmTable algorithms) {
        return TeamOptions.rank(which).of(count).rendezvous(meeting).name(NAME).algorithms(algorithms);
    }

    private void lead(
            Measuring measuring,
            CollectivePlan plan,
            TransportOption transport,
            AlgorithmTable algorithms,
            BenchOutput output,
            Termination termination,
            AlgorithmTuning tuning,
            BooleanSupplier interrupted)
            throws IOException {
        try (TransferEngine engine = engine(transport);
                RankProcesses others = RankProcesses.start(
                        plan.ranks(), arguments(plan, transport), engine.address(), measuring::launcher)) {
            Team team =
                    others.await(Team.form(engine, team(0, plan.ranks(), engine.address(), algorithms)), termination);
            try {
                new CollectiveRun(engine, team, plan, interrupted).measure(result -> {
                    output.add(result);
                    tuning.add(result);
                });
            } finally {
                close(team);
            }
        }
    }

    /** What another rank is started with: it measures the same. */
    private List<String> arguments(CollectivePlan plan, TransportOption transport) {
        List<String> arguments = new ArrayList<>(List.of(
                "bench",
                "--collective",
                plan.collectives().stream().map(BenchCollective::toString).collect(Collectors.joining(",")),
                "--ranks",
                Integer.toString(plan.ranks()),
                "--size",
                plan.sizes().stream().map(size -> Long.toString(size)).collect(Collectors.joining(",")),
                "--type",
                plan.type().toString().toLowerCase(Locale.ROOT),
                "--operation",
                plan.operation().toString().toLowerCase(Locale.ROOT),
                "--duration",
                plan.duration().toMillis() + "ms",
                "--warmup",
                plan.warmup().toMillis() + "ms"));
        if (plan.persistent()) {
            arguments.add("--persistent");
        }
        if (plan.verify()) {
            arguments.add("--verify");
        }
        if (algorithm != Algorithm.AUTO) {
            arguments.addAll(List.of("--algorithm", algorithm.toString()));
        }
        if (table != null) {
            arguments.addAll(List.of("--table", table.toString()));
        }
        if (tune != null) {
            arguments.addAll(List.of("--tune", tune.toString()));
        }
        arguments.addAll(transport.arguments());
        return arguments;
    }

    /** Measures until the first rank's process, which does all the talking, has no more to do or is gone. */
    private int follow(
            Measuring measuring,
            TransportOption transport,
            AlgorithmTable algorithms,
            EngineAddress meeting,
            Termination termination) {
        CompletableFuture<@Nullable Void> end = ServerOptions.inputEnd().toFuture();
        BooleanSupplier ended = () -> end.isDone() || termination.isRequested();
        CollectivePlan plan = measuring.plan(this, ranks.getFirst());
        try (TransferEngine engine = engine(transport)) {
            CompletableFuture<Team> forming = Team.form(engine, team(rank, plan.ranks(), meeting, algorithms));
            CompletableFuture.anyOf(forming, end).handle((any, error) -> true).join();
            if (!forming.isDone()) {
                // The first rank's process is gone.
                return ExitCodes.OK;
            }
            Team team = RankProcesses.result(forming);
            try {
                new CollectiveRun(engine, team, plan, ended).measure(result -> {});
                end.join();
            } catch (SluiceException | BenchException e) {
                if (!endsSoon(end) && !termination.isRequested()) {
                    throw CommandFailure.failed("rank " + rank + ": " + e.getMessage());
                }
            } finally {
                close(team);
            }
        }
        return ExitCodes.OK;
    }

    private static boolean endsSoon(CompletableFuture<@Nullable Void> end) {
        try {
            end.get(PARENT_GONE.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    private static void close(Team team) {
        RankProcesses.result(team.closeAsync());
    }
}
