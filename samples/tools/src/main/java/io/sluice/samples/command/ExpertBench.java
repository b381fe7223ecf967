package io.sluice.samples.command;

import io.sluice.collectives.AlgorithmTable;
import io.sluice.samples.bench.ExpertMode;
import io.sluice.samples.bench.ExpertPlan;
import io.sluice.samples.bench.ExpertRun;
import io.sluice.samples.bench.MemoryPlace;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The part of the bench command that measures dispatch and combine of experts. */
final class ExpertBench {
    private static final List<String> OWN =
            List.of("--tokens", "--hidden", "--top-k", "--experts-total", "--fp8", "--backend", "--blocks");

    @Option(names = "--tokens", paramLabel = "N")
    private @Nullable Integer tokens;

    @Option(names = "--hidden", paramLabel = "N", defaultValue = "7168")
    private int hidden;

    @Option(names = "--top-k", paramLabel = "N", defaultValue = "8")
    private int topK;

    @Option(names = "--experts-total", paramLabel = "N", defaultValue = "256")
    private int experts;

    @Option(names = "--fp8")
    private boolean fp8;

    @Option(names = "--backend", paramLabel = "NAME")
    private @Nullable String backend;

    @Option(names = "--blocks", paramLabel = "N")
    private @Nullable Integer blocks;

    /**
     * The command's other options.
     *
     * @param memory of the first rank: the host's, or a GPU as it was given
     */
    record Measuring(ExpertMode mode, MemoryPlace memory, Duration duration, Duration warmup, boolean verify) {
        ExpertPlan plan(ExpertBench options, int count, int processors) {
            Integer chosen = options.tokens;
            return new ExpertPlan(
                    mode,
                    count,
                    chosen == null ? mode.usualTokens() : chosen,
                    options.hidden,
                    options.topK,
                    options.experts,
                    options.fp8,
                    options.backend,
                    options.blocks,
                    verify,
                    duration,
                    warmup,
                    processors);
        }
    }

    /** Complains about options of experts where none are measured. */
    static void refuse(Predicate<String> isGiven) {
        for (String option : OWN) {
            ProgramCommand.require(!isGiven.test(option), option + " is for --experts");
        }
    }

    /** Complains about what makes no sense, before anything is started. */
    void check(Measuring measuring, BenchRanks ranks) {
        ranks.check();
        boolean isOnHost = measuring.memory().isHost();
        ProgramCommand.require(blocks == null || !isOnHost, "--blocks is for --memory cuda");
        ProgramCommand.require(backend == null || isOnHost, "--backend is for memory of the host");
        for (int count : ranks.counts()) {
            ExpertPlan plan = measuring.plan(this, count, 1);
            try {
                if (isOnHost) {
                    plan.options();
                } else {
                    plan.gpuOptions();
                }
                if (!ranks.isFollower()) {
                    BenchRanks.requireMemory("--tokens", count, () -> plan.bytes(!isOnHost));
                }
            } catch (IllegalArgumentException e) {
                throw CommandFailure.usage("--experts: " + e.getMessage());
            }
        }
    }

    /**
     * Measures, with one number of ranks after the other.
     *
     * @return the exit status
     */
    int measure(
            Measuring measuring,
            BenchRanks ranks,
            BenchRanks.Place place,
            BenchOutput output,
            BooleanSupplier interrupted)
            throws IOException {
        AlgorithmTable algorithms = AlgorithmTable.defaults();
        MemoryPlace own = GpuMemory.ofRank(measuring.memory(), ranks);
        List<ExpertPlan> plans = ranks.counts().stream()
                .map(count -> measuring.plan(this, count, place.processors()))
                .toList();
        if (ranks.isFollower()) {
            ExpertPlan plan = plans.getFirst();
            return ranks.follow(
                    place,
                    algorithms,
                    (engine, team, ended) -> new ExpertRun(engine, team, plan, own, ended).measure(result -> {}));
        }
        for (ExpertPlan plan : plans) {
            ranks.lead(
                    plan.ranks(),
                    place,
                    arguments(plan, measuring.memory()),
                    algorithms,
                    interrupted,
                    (engine, team, ended) -> new ExpertRun(engine, team, plan, own, ended).measure(output::add));
        }
        return output.finish();
    }

    /** The command line of another rank: it measures the same. */
    private List<String> arguments(ExpertPlan plan, MemoryPlace memory) {
        List<String> arguments = new ArrayList<>(List.of(
                "bench",
                "--experts",
                plan.mode().toString(),
                "--tokens",
                Integer.toString(plan.tokens()),
                "--hidden",
                Integer.toString(plan.hidden()),
                "--top-k",
                Integer.toString(plan.topK()),
                "--experts-total",
                Integer.toString(plan.experts()),
                "--duration",
                plan.duration().toMillis() + "ms",
                "--warmup",
                plan.warmup().toMillis() + "ms",
                "--memory",
                memory.toString()));
        if (plan.fp8()) {
            arguments.add("--fp8");
        }
        if (plan.verify()) {
            arguments.add("--verify");
        }
        String named = plan.backend();
        if (named != null) {
            arguments.addAll(List.of("--backend", named));
        }
        if (blocks != null) {
            arguments.addAll(List.of("--blocks", blocks.toString()));
        }
        return arguments;
    }
}
