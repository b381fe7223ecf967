package io.sluice.samples.command;

import io.sluice.collectives.Algorithm;
import io.sluice.collectives.AlgorithmTable;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.samples.bench.AlgorithmTuning;
import io.sluice.samples.bench.BenchCollective;
import io.sluice.samples.bench.CollectivePlan;
import io.sluice.samples.bench.CollectiveRun;
import io.sluice.samples.bench.GpuMeasuring;
import io.sluice.samples.bench.MemoryPlace;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The part of the bench command that measures collectives: this process is rank 0, and starts the others. */
final class CollectiveBench {
    private static final long KIB = 1L << 10;
    private static final List<Long> TUNED_SIZES =
            List.of(8L, 256L, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, KIB * KIB, 4 * KIB * KIB, 16 * KIB * KIB);
    private static final List<String> OWN =
            List.of("--type", "--operation", "--persistent", "--algorithm", "--table", "--tune", "--graph");

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

    @Option(names = "--graph", paramLabel = "N")
    private @Nullable Integer graph;

    /**
     * The command's other options.
     *
     * @param memory of the first rank: the host's, or a GPU as it was given
     */
    record Measuring(
            List<BenchCollective> collectives,
            List<Long> sizes,
            MemoryPlace memory,
            Duration duration,
            Duration warmup,
            boolean verify) {
        CollectivePlan plan(CollectiveBench options, int count, int processors) {
            return new CollectivePlan(
                    collectives,
                    count,
                    sizes,
                    options.type,
                    options.operation,
                    options.algorithm,
                    options.tune != null,
                    options.persistent || !memory.isHost(),
                    verify,
                    duration,
                    warmup,
                    processors);
        }
    }

    /** Complains about options of collectives where none is measured. */
    static void refuse(Predicate<String> isGiven) {
        for (String option : OWN) {
            ProgramCommand.require(!isGiven.test(option), option + " is for --collective");
        }
    }

    /** Complains about what makes no sense, before anything is started. */
    void check(List<BenchCollective> collectives, BenchRanks ranks, MemoryPlace memory, Predicate<String> isGiven) {
        ranks.check();
        if (memory.isHost()) {
            ProgramCommand.require(graph == null, "--graph is for --memory cuda");
        } else {
            checkOnGpus(collectives, isGiven);
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
            ProgramCommand.require(!ranks.counts().contains(1), "sendrecv takes --ranks 2 or more");
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

    private void checkOnGpus(List<BenchCollective> collectives, Predicate<String> isGiven) {
        for (String option : List.of("--algorithm", "--table", "--tune")) {
            ProgramCommand.require(!isGiven.test(option), option + " is for memory of the host");
        }
        for (BenchCollective collective : collectives) {
            ProgramCommand.require(
                    GpuMeasuring.serves(collective), collective + " is for memory of the host: GPUs do not do it");
        }
        ProgramCommand.require(
                graph == null || (graph >= 1 && graph <= GpuMeasuring.MOST_OF_A_GRAPH),
                "--graph: give 1 to " + GpuMeasuring.MOST_OF_A_GRAPH + ", not " + graph);
    }

    private @Nullable GpuMeasuring gpus(MemoryPlace memory, BenchRanks ranks) {
        MemoryPlace own = GpuMemory.ofRank(memory, ranks);
        return own.isHost() ? null : new GpuMeasuring(own, graph == null ? 0 : graph);
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
            BenchRanks ranks,
            BenchRanks.Place place,
            BenchOutput output,
            PrintWriter out,
            BooleanSupplier interrupted)
            throws IOException {
        AlgorithmTable algorithms = algorithms();
        GpuMeasuring gpus = gpus(measuring.memory(), ranks);
        List<CollectivePlan> plans = ranks.counts().stream()
                .map(count -> measuring.plan(this, count, place.processors()))
                .toList();
        if (ranks.isFollower()) {
            CollectivePlan plan = plans.getFirst();
            return ranks.follow(
                    place,
                    algorithms,
                    (engine, team, ended) -> new CollectiveRun(engine, team, plan, gpus, ended).measure(result -> {}));
        }
        plans.forEach(plan -> BenchRanks.requireMemory("--size", plan.ranks(), plan::bytes));
        AlgorithmTuning tuning = new AlgorithmTuning();
        for (CollectivePlan plan : plans) {
            ranks.lead(
                    plan.ranks(),
                    place,
                    arguments(plan, measuring.memory()),
                    algorithms,
                    interrupted,
                    (engine, team, ended) -> new CollectiveRun(engine, team, plan, gpus, ended).measure(result -> {
                        output.add(result);
                        tuning.add(result);
                    }));
        }
        if (tune != null) {
            String text = tuning.table();
            WholeFile.write(tune, text);
            out.print(text);
            out.flush();
        }
        return output.finish();
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

    /** What another rank is started with: it measures the same. */
    private List<String> arguments(CollectivePlan plan, MemoryPlace memory) {
        List<String> arguments = new ArrayList<>(List.of(
                "bench",
                "--collective",
                plan.collectives().stream().map(BenchCollective::toString).collect(Collectors.joining(",")),
                "--size",
                plan.sizes().stream().map(size -> Long.toString(size)).collect(Collectors.joining(",")),
                "--type",
                plan.type().toString().toLowerCase(Locale.ROOT),
                "--operation",
                plan.operation().toString().toLowerCase(Locale.ROOT),
                "--duration",
                plan.duration().toMillis() + "ms",
                "--warmup",
                plan.warmup().toMillis() + "ms",
                "--memory",
                memory.toString()));
        if (graph != null) {
            arguments.addAll(List.of("--graph", graph.toString()));
        }
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
        return arguments;
    }
}
