package io.sluice.samples.command;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.bench.Api;
import io.sluice.samples.compare.BenchEnvironment;
import io.sluice.samples.compare.Compare;
import io.sluice.samples.compare.CompareDocument;
import io.sluice.samples.compare.Pinning;
import io.sluice.samples.compare.RoundsProgress;
import io.sluice.samples.compare.RunDescription;
import io.sluice.samples.compare.Timing;
import io.sluice.samples.report.ProgressLine;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sluice compare}. */
@Command(
        name = "compare",
        header = "Measure transfers beside other programs, and print the ratios.",
        description = {
            "",
            "Measures 'sluice bench', iperf3, UCX's ucx_perftest, JUCX and a plain C program on this machine, by turns: in each"
                    + " round everything once, in processes of its own, the initiator on one processor and the target on"
                    + " another. Prints the median of the rounds for both sides of each comparison, and the ratio, ours by"
                    + " theirs. All use one buffer on each side, but for the vectored transfers of 64 KiB, of which each"
                    + " element has its own.",
            "",
            "Some comparisons have no other program beside them but a fixed figure, which the ratio is taken of. They are"
                    + " made for one interface each, whatever --api says.",
            "",
            "What is missing, of iperf3, ucx-utils and libucx0, is installed as root on Debian, after a question at a"
                    + " terminal or where CI is set, unless SLUICE_NO_INSTALL=1 is; else what needs it is left out, as it"
                    + " is without a C compiler.",
            ""
        },
        footer = {
            "",
            "The peers:",
            "  iperf3     one stream; it measures whole seconds, and nobody acknowledges but the kernel",
            "  ucx        ucp_put_bw and ucp_get, beside shm with UCX_TLS=posix,sysv,cma, else over tcp; a put counts when",
            "             its source may be reused. Beside a vectored transfer as many single ones as it has elements are",
            "             outstanding, all of one buffer: ucx_perftest has no vectored puts and gets",
            "             Of puts over tcp at most 1 MiB is outstanding, or one: with more of it UCX stalls on loopback",
            "  jucx       the same through UCX's Java binding, which comes with this program, over tcp; the time lasts until",
            "             all has taken effect",
            "  ucx-tuned  ucx with UCX_TCP_TX_SEG_SIZE=64k UCX_TCP_RX_SEG_SIZE=256k",
            "  ucx-initiator-time, ucx-target-time",
            "             processor time of that side for a GB, in the middle half of a run; a run under a second tells none",
            "  ceiling    plain C over a socket: a put, or a get, in a system call on each side, acknowledged;",
            "             beside shm copies in a process of their own, between shared mappings as large as a transfer",
            "  ceiling-alone",
            "             the same over a socket with one transfer in flight on both sides, ours and theirs",
            "  ping-pong  plain C, both sides spinning on the socket; the engines' pollers never park either",
            "  blocking-ping-pong",
            "             the same with both sides asleep in the kernel; the engines' pollers park at once, too",
            "  tail       what 99 of 100 transfers took at most, by the median of the same run",
            "  memcpy     beside shm between the very memory of the transfers, by the initiator and by turns with them;",
            "             else in a process of its own, of private memory, up to 1 MiB within the cache, larger ones beyond it",
            "  process-vm-writev",
            "             plain C that writes into a child's memory in one system call, beside cross-memory attach",
            "  rate       a fixed number of transfers, or of a vectored one's elements, a second",
            "  latency    a fixed median, with one transfer in flight",
            "  metrics-cost, metrics-allocation",
            "             the same transfers by the engine's own interface, unwatched: ours have --metrics-port and are scraped",
            "             once a second; by their rate, and by the heap that all threads allocate for each, scrapes included",
            "  crc-cost   the same transfers without checksums: ours have --integrity crc32c",
            "  reactor-cost",
            "             the same transfers by the engine's own interface: ours are subscriptions of Reactor",
            "  allocation a fixed number of bytes of heap for each transfer, of the initiator's pollers and callers",
            "  token-cost, tls-cost, tls-data-cost",
            "             the same transfers, or connections made and closed one after the other, between engines that trust",
            "             each other without a proof",
            "  1-connection",
            "             the same transfers on one connection: ours are on more, with as many in flight on each",
            "  1000-elements",
            "             the same elements in calls of so many: ours are in longer calls",
            "  hello      the start and end of a JVM with one small class: ours are those of 'sluice info', and of a program",
            "             that writes 8 bytes into another process; those called aot- start with an AOT cache",
            "  vertx-cost the same transfers through Reactor: ours are futures of Vert.x, on an event loop",
            "",
            "A ratio is that of the medians; beside shm's memcpy, and for what is beside other measurements of ours, where both are measured by turns or one right"
                    + " after the other, and alike, it is the median of the rounds' ratios.",
            "",
            "A comparison is called after the transfer and the peer, such as write-4KiB/ucx; those over shm begin with shm-"
                    + " or, by cross-memory attach, with cross-memory-. With --json there is an"
                    + " object with the machine, the versions, the command lines of the last round, and for each comparison its"
                    + " figures in each round, the medians, the ratio, the goal and whether it is met, and the problem, if"
                    + " there is one. While ucx_perftest runs it listens on all interfaces.",
            "",
            "Examples:",
            "  sluice compare",
            "  sluice compare --only goals --check",
            "  sluice compare --only read-8B,iperf3 --api engine,reactor --rounds 3 --json compare.json",
            "  sluice compare --transport shm --only goals",
            "  sluice compare --only vectored,scale,start",
            "  sluice compare --json out.json --html out.html",
            "  sluice compare --from out.json --markdown docs/performance.md --png ."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:all was measured but what is left out, whatever the ratios are",
            "1:something could not be measured, or with --check a goal is not met or not measured",
            "2:the command line makes no sense",
            "130:ended by SIGINT (Ctrl-C)",
            "143:ended by SIGTERM"
        })
final class CompareCommand extends ProgramCommand {

    private static final int MOST_ROUNDS = 1000;
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final String STANDARD_OUTPUT = "-";
    private static final List<String> MEASURING =
            List.of("--rounds", "--duration", "--warmup", "--api", "--only", "--transport", "--cpu", "--server-cpu");
    private static final ObjectMapper JSON = new ObjectMapper();

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description = "How often to measure everything. Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            defaultValue = "2s",
            description = "How long each measurement takes. Default: ${DEFAULT-VALUE}.")
    private Duration duration = Duration.ZERO;

    @Option(
            names = "--warmup",
            paramLabel = "TIME",
            defaultValue = "2s",
            description =
                    "How long to run before each; our own programs run on up to five times as long, until the JVM, which"
                            + " has one processor for it, has compiled what is measured. Default: ${DEFAULT-VALUE}.")
    private Duration warmup = Duration.ZERO;

    @Option(
            names = "--api",
            paramLabel = "API",
            split = ",",
            defaultValue = "reactor",
            description =
                    "Through what to start our transfers: ${COMPLETION-CANDIDATES}, or several, separated by commas."
                            + " Default: ${DEFAULT-VALUE}.")
    private List<Api> apis = new ArrayList<>();

    @Option(
            names = "--only",
            paramLabel = "NAME",
            split = ",",
            description =
                    "Make these comparisons alone: names such as write-4KiB/ucx, or either half of one, or goals for"
                            + " those with a goal, or a topic: small, large, vectored, round-trips, shared-memory,"
                            + " interfaces, metrics, security-cost, integrity, processors, scale, start. Separated by"
                            + " commas.")
    private List<String> only = new ArrayList<>();

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            split = ",",
            description = "Make the comparisons alone whose transfers go over these transports: tcp, shm. Separated by"
                    + " commas. Default: all; those over a transport that is not available here are left out.")
    private List<String> transports = new ArrayList<>();

    @Option(names = "--check", description = "End with status 1 if a goal is not met, or could not be measured.")
    private boolean check;

    @Option(
            names = "--cpu",
            paramLabel = "N",
            description =
                    "The processor, or processors such as 0,2 or 0-3, of the side that measures. Default: the first"
                            + " that may be used.")
    private @Nullable CpuList cpu;

    @Option(
            names = "--server-cpu",
            paramLabel = "N",
            description =
                    "The same for the side with the memory. Default: the second, or the first if there is but one.")
    private @Nullable CpuList serverCpu;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description =
                    "Write the figures there, too, as one JSON object; - is standard output, and the table then goes"
                            + " to standard error.")
    private @Nullable String json;

    @Option(
            names = "--from",
            paramLabel = "FILE",
            description = "Measure nothing: show, and draw, what --json has written there.")
    private @Nullable Path from;

    @Mixin
    private final ComparePresentation presentation = new ComparePresentation();

    CompareCommand(Termination termination) {
        super(termination);
    }

    @Override
    public Integer call() throws IOException {
        Path file = json == null || json.equals(STANDARD_OUTPUT) ? null : Path.of(json);
        if (file != null) {
            WholeFile.require("--json", file);
        }
        presentation.require();
        CompareDocument document = from == null ? measured() : read(from);
        if (file != null) {
            WholeFile.write(file, document.json());
        }
        PrintWriter err = err();
        PrintWriter out = out();
        PrintWriter table = STANDARD_OUTPUT.equals(json) ? err : out;
        table.println(document.title());
        table.print(document.table());
        table.flush();
        if (STANDARD_OUTPUT.equals(json)) {
            out.print(document.json());
            out.flush();
        }
        presentation.write(document, err);
        return document.isComplete() && (!check || document.meetsGoals()) ? ExitCodes.OK : ExitCodes.FAILED;
    }

    private CompareDocument measured() throws IOException {
        Timing timing = timing();
        Compare compare = chosen();
        CpuList allowed = CpuList.allowed();
        CpuList initiator = cpu == null ? allowed.single(0) : cpu;
        CpuList target = serverCpu == null ? allowed.single(1) : serverCpu;
        Pinning pinning = pinning(initiator, target, allowed);
        RunDescription description = new RunDescription(
                ProgramVersion.current(),
                Instant.now().truncatedTo(ChronoUnit.SECONDS),
                "./sluice "
                        + String.join(
                                " ", spec.root().commandLine().getParseResult().originalArgs()),
                JSON.valueToTree(MachineReport.current()),
                timing,
                where(initiator, target, pinning));
        try (BenchEnvironment workbench =
                new BenchEnvironment(timing, pinning, JavaCommand::of, termination::isRequested)) {
            RoundsProgress progress = new RoundsProgress(err(), ProgressLine.onTerminal());
            return compare.run(description, workbench, progress);
        }
    }

    private CompareDocument read(Path file) throws IOException {
        for (String option : MEASURING) {
            require(
                    !spec.commandLine().getParseResult().hasMatchedOption(option),
                    option + " is about measuring, and --from measures nothing");
        }
        require(Files.isReadable(file), "--from: " + file + " cannot be read");
        try {
            return CompareDocument.parse(WholeFile.read("--from", file));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage("--from: " + file + ": " + e.getMessage());
        }
    }

    private Timing timing() {
        require(rounds >= 1 && rounds <= MOST_ROUNDS, "--rounds: give 1 to " + MOST_ROUNDS + ", not " + rounds);
        require(!duration.isZero(), "--duration: give more than 0");
        require(duration.compareTo(LONGEST) <= 0, "--duration: give at most 1h");
        require(warmup.compareTo(LONGEST) <= 0, "--warmup: give at most 1h");
        return new Timing(rounds, duration, warmup);
    }

    private Compare chosen() {
        try {
            return new Compare(apis, only, transports);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage((transports.isEmpty() ? "--only: " : "--only, --transport: ") + e.getMessage());
        }
    }

    private static Pinning pinning(CpuList initiator, CpuList target, CpuList allowed) {
        return new Pinning(
                Affinity.launcher("--cpu", initiator, allowed),
                Affinity.launcher("--server-cpu", target, allowed),
                List.of("--cpu", initiator.text(), "--server-cpu", target.text()),
                initiator.equals(target) && initiator.isSingle());
    }

    private static String where(CpuList initiator, CpuList target, Pinning pinning) {
        return pinning.isShared()
                ? "both sides share processor " + initiator.text() + ", so take turns"
                : "initiator on processor " + initiator.text() + ", target on " + target.text();
    }
}
