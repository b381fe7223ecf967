package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.Bench;
import io.sluice.samples.bench.BenchCollective;
import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.bench.BenchPlan;
import io.sluice.samples.bench.Buffers;
import io.sluice.samples.bench.ExpertMode;
import io.sluice.samples.bench.Initiator;
import io.sluice.samples.bench.MemoryPlace;
import io.sluice.samples.bench.RegionMemory;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "bench", header = "Measure transfers between this process and another one.")
final class BenchCommand extends ProgramCommand {
    private static final int MOST_IN_FLIGHT = 65_536;
    private static final int MOST_CONNECTIONS = 1024;
    private static final int MOST_ELEMENTS = 1 << 20;
    private static final int DEFAULT_IOV = 16;
    private static final long SHORT = 64L << 10;

    /** --collective and --experts do without these. */
    private static final List<String> OF_TRANSFERS = List.of(
            "--op",
            "--inflight",
            "--iov",
            "--connections",
            "--buffers",
            "--regions",
            "--scattered",
            "--server-memory",
            "--api",
            "--memcpy",
            "--server-cpu",
            "--metrics-port",
            "--metrics-host",
            "--metrics-linger");

    /** The serving side's memory is found by a mark in it. */
    private static final long LEAST_COPIED = 16;

    @ArgGroup(multiplicity = "1")
    private Server server = new Server();

    static final class Server {
        @Option(names = "--connect", paramLabel = "HOST:PORT")
        private @Nullable EngineAddress connect;

        @Option(names = "--loopback")
        private boolean loopback;

        @Option(names = "--collective", paramLabel = "NAME", split = ",")
        private List<BenchCollective> collectives = new ArrayList<>();

        @Option(names = "--experts", paramLabel = "MODE")
        private @Nullable ExpertMode experts;
    }

    @Mixin
    private final BenchRanks ranks = new BenchRanks();

    @Mixin
    private final CollectiveBench collective = new CollectiveBench();

    @Mixin
    private final ExpertBench expert = new ExpertBench();

    @Option(names = "--op", paramLabel = "OP", defaultValue = "write")
    private BenchOperation operation = BenchOperation.WRITE;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            split = ",",
            defaultValue = "8,4KiB,64KiB,1MiB",
            converter = OptionTypes.ByteSizeConverter.class)
    private List<Long> sizes = new ArrayList<>();

    @Option(names = "--inflight", paramLabel = "N", defaultValue = "32")
    private int inflight;

    @Option(names = "--iov", paramLabel = "N")
    private @Nullable Integer iov;

    @Option(names = "--connections", paramLabel = "N", defaultValue = "1")
    private int connections;

    @Option(names = "--buffers", paramLabel = "WHICH", defaultValue = "single")
    private Buffers buffers = Buffers.SINGLE;

    @Option(names = "--regions", paramLabel = "WHOSE", defaultValue = "allocated")
    private RegionMemory regions = RegionMemory.ALLOCATED;

    @Option(names = "--scattered")
    private boolean scattered;

    @Option(names = "--memory", paramLabel = "PLACE", defaultValue = "host")
    private MemoryPlace memory = MemoryPlace.HOST;

    @Option(names = "--server-memory", paramLabel = "PLACE")
    private @Nullable MemoryPlace serverMemory;

    @Option(names = "--duration", paramLabel = "TIME", defaultValue = "3s")
    private Duration duration = Duration.ZERO;

    @Option(names = "--warmup", paramLabel = "TIME", defaultValue = "1s")
    private Duration warmup = Duration.ZERO;

    @Option(names = "--api", paramLabel = "API", defaultValue = "reactor")
    private Api api = Api.REACTOR;

    @Option(names = "--verify")
    private boolean verify;

    @Option(names = "--memcpy")
    private boolean memcpy;

    @Option(names = "--cpu", paramLabel = "N")
    private @Nullable CpuList cpu;

    @Option(names = "--server-cpu", paramLabel = "N")
    private @Nullable CpuList serverCpu;

    @Option(names = "--json", paramLabel = "FILE")
    private @Nullable String json;

    @Option(names = "--launched-by", paramLabel = "CPUS", hidden = true)
    private @Nullable CpuList launcherCpus;

    @Mixin
    private final TransportOption transport = new TransportOption();

    @Mixin
    private final MetricsOption metrics = new MetricsOption();

    BenchCommand(Termination termination) {
        super(termination);
    }

    @Override
    public Integer call() throws IOException {
        if (!server.collectives.isEmpty()) {
            return measureCollectives();
        }
        CollectiveBench.refuse(this::isGiven);
        ExpertMode experts = server.experts;
        if (experts != null) {
            return measureExperts(experts);
        }
        ExpertBench.refuse(this::isGiven);
        BenchRanks.refuse(this::isGiven);
        BenchPlan plan = plan();
        BenchOutput output = new BenchOutput(json, spec.commandLine());
        EngineOptions engine = Bench.fit(transport.engineOptions(), plan).build();
        CpuList allowed = launcherCpus == null ? CpuList.allowed() : launcherCpus;
        List<String> serverLauncher = Affinity.launcher("--server-cpu", serverCpus(allowed), allowed);
        if (cpu != null && launcherCpus == null) {
            return runOn(Affinity.launcher("--cpu", cpu, allowed), allowed);
        }
        try (MetricsEndpoint watched = metrics.open(spec.commandLine())) {
            BenchRun run =
                    new BenchRun(plan, engine, transport.arguments(), output, watched, termination, interrupted());
            EngineAddress connect = server.connect;
            return connect == null ? run.againstOwnProcess(serverLauncher) : run.against(connect);
        }
    }

    private int measureCollectives() throws IOException {
        ExpertBench.refuse(this::isGiven);
        requireNoTransfers("--collective");
        require(sizes.stream().allMatch(size -> size >= 1), "--size: give 1 byte or more");
        collective.check(server.collectives, ranks, memory, this::isGiven);
        CollectiveBench.Measuring measuring = new CollectiveBench.Measuring(
                server.collectives,
                isGiven("--size") ? sizes : collective.usualSizes(sizes),
                memory,
                duration,
                warmup,
                verify);
        return onRanks((place, output) -> collective.measure(
                measuring, ranks, place, output, spec.commandLine().getOut(), interrupted()));
    }

    private int measureExperts(ExpertMode mode) throws IOException {
        requireNoTransfers("--experts");
        require(!isGiven("--size"), "--size is for transfers and collectives; --hidden and --tokens are for --experts");
        ExpertBench.Measuring measuring = new ExpertBench.Measuring(mode, memory, duration, warmup, verify);
        expert.check(measuring, ranks);
        return onRanks((place, output) -> expert.measure(measuring, ranks, place, output, interrupted()));
    }

    private void requireNoTransfers(String instead) {
        for (String option : OF_TRANSFERS) {
            require(!isGiven(option), option + " is for transfers, not for " + instead);
        }
        require(!duration.isZero(), "--duration: give more than 0");
    }

    private interface RankWork {
        int measure(BenchRanks.Place place, BenchOutput output) throws IOException;
    }

    /** Has this process, which is a rank, on its processor from its beginning. */
    private int onRanks(RankWork work) throws IOException {
        CpuList allowed = launcherCpus == null ? CpuList.allowed() : launcherCpus;
        BenchOutput output = new BenchOutput(json, spec.commandLine());
        if (cpu != null && launcherCpus == null) {
            Affinity.launcher("--cpu", cpu, allowed);
            return runOn(Affinity.launcher("--cpu", cpu.single(0), allowed), allowed);
        }
        return work.measure(new BenchRanks.Place(transport, cpu, allowed, termination), output);
    }

    /** A process that was started by another one does not outlive it. */
    private BooleanSupplier interrupted() {
        if (launcherCpus == null) {
            return termination::isRequested;
        }
        CompletableFuture<@Nullable Void> end = ServerOptions.inputEnd().toFuture();
        return () -> end.isDone() || termination.isRequested();
    }

    /** This command once more, on its processors from its beginning. */
    private int runOn(List<String> launcher, CpuList allowed) throws IOException {
        List<String> arguments =
                new ArrayList<>(spec.root().commandLine().getParseResult().originalArgs());
        arguments.addAll(List.of("--launched-by", allowed.text()));
        List<String> command = new ArrayList<>(launcher);
        command.addAll(JavaCommand.of(arguments));
        return Affinity.run(command, termination);
    }

    /** A process inherits the processors of the one that starts it, which --cpu may have narrowed down. */
    private @Nullable CpuList serverCpus(CpuList allowed) {
        require(serverCpu == null || server.loopback, "--server-cpu is for the process that --loopback starts");
        return serverCpu == null && launcherCpus != null && server.loopback ? allowed : serverCpu;
    }

    private BenchPlan plan() {
        require(sizes.stream().allMatch(size -> size >= 1), "--size: give 1 byte or more");
        between("--inflight", inflight, MOST_IN_FLIGHT);
        between("--connections", connections, MOST_CONNECTIONS);
        require(!duration.isZero(), "--duration: give more than 0");
        require(
                !memcpy || operation == BenchOperation.WRITE || operation == BenchOperation.READ,
                "--memcpy is for --op write and read");
        require(
                !memcpy || sizes.stream().allMatch(size -> size >= LEAST_COPIED),
                "--memcpy is for --size " + LEAST_COPIED + " and more");
        if (operation == BenchOperation.CONNECT) {
            requireConnectsAlone();
        }
        require(!memcpy || connections == 1, "--memcpy is for one connection");
        require(!memcpy || regions == RegionMemory.ALLOCATED, "--memcpy is for --regions allocated");
        requirePlaces();
        require(
                !scattered || !isGiven("--buffers") || buffers == Buffers.SCATTERED,
                "--scattered is --buffers scattered, not " + buffers);
        try {
            BenchPlan plan = new BenchPlan(
                    operation,
                    api,
                    sizes(),
                    operation == BenchOperation.CONNECT ? 1 : inflight,
                    elements(),
                    connections,
                    scattered ? Buffers.SCATTERED : buffers,
                    regions,
                    GpuMemory.locate("--memory", memory),
                    serverPlace(),
                    duration,
                    warmup,
                    verify,
                    memcpy);
            plan.serverBytes();
            return plan;
        } catch (ArithmeticException e) {
            throw CommandFailure.usage("--size: so many elements of this size take more than 2^63 bytes");
        }
    }

    private void requirePlaces() {
        boolean allHost = memory.isHost() && (serverMemory == null || serverMemory.isHost());
        require(serverMemory == null || server.loopback, "--server-memory is for the process that --loopback starts");
        require(!memcpy || allHost, "--memcpy is for memory of the host");
        require(allHost || regions == RegionMemory.ALLOCATED, "--regions registered is for memory of the host");
    }

    /** Of a process that is there already it is not known. */
    private @Nullable MemoryPlace serverPlace() {
        if (!server.loopback) {
            return null;
        }
        return serverMemory == null ? MemoryPlace.HOST : GpuMemory.locate("--server-memory", serverMemory);
    }

    private List<Long> sizes() {
        boolean chosen = isGiven("--size");
        if (operation == BenchOperation.CONNECT) {
            // The serving side has to offer something.
            return List.of(1L);
        }
        if (operation.isAddition()) {
            require(
                    !chosen || sizes.stream().allMatch(size -> size == Long.BYTES),
                    "--size: " + operation + " changes a word of 8 bytes, and nothing else");
            return chosen ? sizes : List.of((long) Long.BYTES);
        }
        return chosen || operation != BenchOperation.NOTIFY
                ? sizes
                : sizes.stream().filter(size -> size <= SHORT).toList();
    }

    private void requireConnectsAlone() {
        for (String option : List.of("--size", "--iov", "--connections", "--inflight", "--verify")) {
            require(!isGiven(option), option + " is not for --op connect, which moves no bytes, one after the other");
        }
    }

    private boolean isGiven(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    private int elements() {
        int count = iov == null ? (operation.isVectored() ? DEFAULT_IOV : 1) : iov;
        between("--iov", count, MOST_ELEMENTS);
        require(
                count == 1 || operation.isVectored(),
                "--iov is for writev and readv, write-pages and read-pages: " + operation + " has one element");
        return count;
    }

    private static void between(String option, int value, int most) {
        require(value >= 1 && value <= most, option + ": give 1 to " + most + ", not " + value);
    }

    /** A measurement as a command carries it out: both sides up, the figures, both sides down. */
    record BenchRun(
            BenchPlan plan,
            EngineOptions options,
            List<String> engineArguments,
            BenchOutput output,
            MetricsEndpoint watched,
            Termination termination,
            BooleanSupplier interrupted) {
        /**
         * Against a serving process that is started and ended here.
         *
         * @param launcher what starts it; none for nothing
         * @return the exit status
         */
        int againstOwnProcess(List<String> launcher) throws IOException {
            List<String> serve = new ArrayList<>(List.of(
                    "serve",
                    "--listen",
                    ServerOptions.LOOPBACK.toString(),
                    "--memory",
                    Long.toString(plan.serverBytes()),
                    "--regions",
                    plan.regions().toString()));
            MemoryPlace place = plan.serverMemory();
            if (place != null && !place.isHost()) {
                serve.addAll(List.of("--on", place.device()));
            }
            serve.addAll(engineArguments);
            try (SecondProcess process = SecondProcess.start("the serving process", launcher, serve, termination)) {
                try {
                    return against(process.address());
                } catch (SluiceException e) {
                    throw process.explain(e);
                }
            }
        }

        int against(EngineAddress address) {
            try (Initiator initiator = Initiator.open(plan.api(), options)) {
                watched.watch(initiator.engine());
                try {
                    new Bench(plan, address, ServeCommand.DEFAULT_NAME, interrupted).run(initiator, output::add);
                } catch (RuntimeException e) {
                    watched.linger(termination, e);
                    throw e;
                }
                watched.linger(termination);
            }
            return output.finish();
        }
    }
}
