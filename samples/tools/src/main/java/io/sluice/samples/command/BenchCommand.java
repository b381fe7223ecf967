package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.Bench;
import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.bench.BenchPlan;
import io.sluice.samples.bench.Buffers;
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

/** {@code sluice bench}. */
@Command(
        name = "bench",
        header = "Measure transfers between this process and another one.",
        description = {
            "",
            "Keeps --inflight elements in flight on each connection for --duration, for one size after the other, and"
                    + " prints a line for each. A GB is 10^9 bytes. Latency is from the submission of a transfer (with"
                    + " --api reactor: from the subscription) to its terminal signal.",
            "",
            "With --verify, transfers are made in rounds, in the warm-up, too. In a round each element goes to a range"
                    + " of its own; then, while the clock stands still, all are compared with what was sent: written"
                    + " ones are read back over another connection, what is read was written over another connection"
                    + " before, and of notifications the serving process tells a checksum. If a round's ranges would"
                    + " take more than 1 GiB, they are used several times. The words that fetch-add and signal add to"
                    + " are read back over another connection, too: each has grown by the number of additions; and"
                    + " fetch-add has found each value on the way once.",
            "",
            "The engine's window holds, too: of large elements, no more are in flight than SLUICE_WINDOW_BYTES, and"
                    + " those of more than an eighth of it go in several operations.",
            "",
            "Of --op connect a transfer is a connection, made and closed again, one after the other, and its latency that of"
                    + " making it. --api, but for vertx, makes no difference to it.",
            "",
            "A transport that carries transfers out in the thread that asks for them, as shm does with short ones, has"
                    + " one in flight at a time, on a thread for each connection. Of its transfers one in 7 is timed, and all"
                    + " with --inflight 1.",
            ""
        },
        footer = {
            "",
            "With --json there is an object a line for each size. Its max_inflight_ops_seen and max_inflight_bytes_seen"
                    + " are the most on one connection; server_cpu_seconds is what the serving process says of itself,"
                    + " null if it says nothing; allocated_bytes_per_transfer counts all threads of this process,"
                    + " and transfer_threads_bytes_per_transfer the pollers and the callers alone;"
                    + " verified is null without --verify. With --api engine, transfers (but notifications) are"
                    + " prepared once and started again.",
            "",
            "Examples:",
            "  sluice bench --loopback --op write --size 8,4KiB,1MiB --inflight 32 --verify",
            "  sluice bench --loopback --op readv --iov 256 --api engine --cpu 0 --server-cpu 1 --json -",
            "  sluice serve --listen 10.0.0.2:7000 --memory 1GiB      (there, with SLUICE_TOKEN set on both)",
            "  sluice bench --connect 10.0.0.2:7000 --op read         (here)"
        })
final class BenchCommand extends ProgramCommand {

    private static final int MOST_IN_FLIGHT = 65_536;
    private static final int MOST_CONNECTIONS = 1024;
    private static final int MOST_ELEMENTS = 1 << 20;
    private static final int DEFAULT_IOV = 16;
    private static final long SHORT = 64L << 10;

    /** The serving side's memory is found by a mark in it. */
    private static final long LEAST_COPIED = 16;

    @ArgGroup(multiplicity = "1")
    private Server server = new Server();

    static final class Server {
        @Option(
                names = "--connect",
                paramLabel = "HOST:PORT",
                description =
                        "Use the 'sluice serve' that listens there, and its region " + ServeCommand.DEFAULT_NAME + ".")
        private @Nullable EngineAddress connect;

        @Option(names = "--loopback", description = "Start the serving side as a second process on this machine.")
        private boolean loopback;
    }

    @Option(
            names = "--op",
            paramLabel = "OP",
            defaultValue = "write",
            description = "What to measure: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private BenchOperation operation = BenchOperation.WRITE;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            split = ",",
            defaultValue = "8,4KiB,64KiB,1MiB",
            converter = ByteSizeConverter.class,
            description = "Sizes of an element, separated by commas. Default: ${DEFAULT-VALUE}; of notifications those"
                    + " up to 64KiB; of fetch-add and signal it is always 8, and connect moves no bytes.")
    private List<Long> sizes = new ArrayList<>();

    @Option(
            names = "--inflight",
            paramLabel = "N",
            defaultValue = "32",
            description =
                    "Elements in flight on each connection; of connect it is always 1. Default: ${DEFAULT-VALUE}.")
    private int inflight;

    @Option(
            names = "--iov",
            paramLabel = "N",
            description = "Elements of a transfer, up to 1048576; for writev and readv. Default: 16.")
    private @Nullable Integer iov;

    @Option(
            names = "--connections",
            paramLabel = "N",
            defaultValue = "1",
            description = "How many connections to drive. Default: ${DEFAULT-VALUE}.")
    private int connections;

    @Option(
            names = "--buffers",
            paramLabel = "WHICH",
            defaultValue = "single",
            description = {
                "single: all elements use the same memory, on both sides (with --verify: all come from the same);"
                        + " distinct: each in flight has its own. The words of"
                        + " fetch-add and signal are chosen in the same way.",
                "Default: ${DEFAULT-VALUE}."
            })
    private Buffers buffers = Buffers.SINGLE;

    @Option(
            names = "--regions",
            paramLabel = "WHOSE",
            defaultValue = "allocated",
            description = {
                "allocated: the engines have allocated the memory, on both sides;"
                        + " registered: it is the program's own, registered with them (with --connect: here; 'sluice"
                        + " serve' has the same option). shm reaches the latter by cross-memory attach, if"
                        + " SLUICE_SHM_CROSS_MEMORY_ATTACH=true is set on both sides.",
                "Default: ${DEFAULT-VALUE}."
            })
    private RegionMemory regions = RegionMemory.ALLOCATED;

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            defaultValue = "3s",
            description = "How long to measure each size. Default: ${DEFAULT-VALUE}.")
    private Duration duration = Duration.ZERO;

    @Option(
            names = "--warmup",
            paramLabel = "TIME",
            defaultValue = "1s",
            description =
                    "How long to run before, for each size: so long at least, and up to five times as long while the"
                            + " JVM still compiles. Without a pause what follows is measured, unless --verify or --memcpy is"
                            + " given. Default:"
                            + " ${DEFAULT-VALUE}.")
    private Duration warmup = Duration.ZERO;

    @Option(
            names = "--api",
            paramLabel = "API",
            defaultValue = "reactor",
            description = "Through what to start transfers: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private Api api = Api.REACTOR;

    @Option(names = "--verify", description = "Compare all that arrives with what was sent.")
    private boolean verify;

    @Option(
            names = "--memcpy",
            description =
                    "By short turns with the transfers, with --verify after them, copy between the same memory by C's"
                            + " memcpy, in this process, and"
                            + " tell its rate, too: nothing that copies is faster. For write and read over shm, on one"
                            + " connection, between memory that the engines have allocated.")
    private boolean memcpy;

    @Option(
            names = "--cpu",
            paramLabel = "N",
            description = "Run this process on this processor alone, or on these, such as 0,2 or 0-3.")
    private @Nullable CpuList cpu;

    @Option(
            names = "--server-cpu",
            paramLabel = "N",
            description = "The same for the process that --loopback starts. Default: all that there are.")
    private @Nullable CpuList serverCpu;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Write the figures there, too, as JSON; - is standard output, and the table then goes to"
                    + " standard error.")
    private @Nullable String json;

    @Option(
            names = "--launched-by",
            paramLabel = "CPUS",
            hidden = true,
            description = "This process was started on its processors by another one, which may use these.")
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

    /** A process that was started by another one does not outlive it. */
    private BooleanSupplier interrupted() {
        if (launcherCpus == null) {
            return termination::isRequested;
        }
        CompletableFuture<@Nullable Void> end = StandardInput.end().toFuture();
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
        if (serverCpu != null && !server.loopback) {
            throw CommandFailure.usage("--server-cpu is for the process that --loopback starts");
        }
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
        try {
            BenchPlan plan = new BenchPlan(
                    operation,
                    api,
                    sizes(),
                    operation == BenchOperation.CONNECT ? 1 : inflight,
                    elements(),
                    connections,
                    buffers,
                    regions,
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
                "--iov is for writev and readv: " + operation + " has one element");
        return count;
    }

    private static void between(String option, int value, int most) {
        require(value >= 1 && value <= most, option + ": give 1 to " + most + ", not " + value);
    }
}
