package io.sluice.samples.command;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.bench.Api;
import io.sluice.samples.compare.BenchEnvironment;
import io.sluice.samples.compare.ChartImages;
import io.sluice.samples.compare.Compare;
import io.sluice.samples.compare.CompareDocument;
import io.sluice.samples.compare.CompareDocument.RunDescription;
import io.sluice.samples.compare.CompareMarkdown;
import io.sluice.samples.compare.ComparePage;
import io.sluice.samples.compare.Pinning;
import io.sluice.samples.compare.RoundsProgress;
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

@Command(
        name = "compare",
        header = "Compare transfers with other programs, and print the ratios.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:all was measured except comparisons left out, also if ratios are poor",
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

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "5")
    private int rounds;

    @Option(names = "--duration", paramLabel = "TIME", defaultValue = "2s")
    private Duration duration = Duration.ZERO;

    @Option(names = "--warmup", paramLabel = "TIME", defaultValue = "2s")
    private Duration warmup = Duration.ZERO;

    @Option(names = "--api", paramLabel = "API", split = ",", defaultValue = "reactor")
    private List<Api> apis = new ArrayList<>();

    @Option(names = "--only", paramLabel = "NAME", split = ",")
    private List<String> only = new ArrayList<>();

    @Option(names = "--transport", paramLabel = "NAME", split = ",")
    private List<String> transports = new ArrayList<>();

    @Option(names = "--check")
    private boolean check;

    @Option(names = "--cpu", paramLabel = "N")
    private @Nullable CpuList cpu;

    @Option(names = "--server-cpu", paramLabel = "N")
    private @Nullable CpuList serverCpu;

    @Option(names = "--json", paramLabel = "FILE")
    private @Nullable String json;

    @Option(names = "--from", paramLabel = "FILE")
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
                JSON.valueToTree(ProgramReport.MachineReport.current()),
                timing,
                where(initiator, target, pinning));
        try (BenchEnvironment workbench =
                BenchEnvironment.open(timing, pinning, JavaCommand::of, termination::isRequested)) {
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

    /** The options that draw what was compared. */
    static final class ComparePresentation {
        @Option(names = "--html", paramLabel = "FILE")
        private @Nullable Path html;

        @Option(names = "--markdown", paramLabel = "FILE")
        private @Nullable Path markdown;

        @Option(names = "--png", paramLabel = "FOLDER")
        private @Nullable Path png;

        /** Complains about what cannot be written, before anything is measured. */
        void require() throws IOException {
            if (html != null) {
                WholeFile.require("--html", html);
            }
            if (markdown != null) {
                WholeFile.require("--markdown", markdown);
            }
            if (markdown != null && Files.isRegularFile(markdown)) {
                requireMarks(markdown);
            }
            if (png != null && !(Files.isDirectory(png) && Files.isWritable(png))) {
                throw CommandFailure.usage("--png: " + png + " is no folder that can be written to; make it first");
            }
            if (png != null && !ChartImages.isPossible()) {
                throw CommandFailure.usage(
                        "--png: chromium is not here; on Debian, as root: apt-get install -y --no-install-recommends chromium");
            }
        }

        /** A file without marks is not overwritten. */
        private static void requireMarks(Path file) throws IOException {
            if (!CompareMarkdown.hasMarks(WholeFile.read("--markdown", file))) {
                throw CommandFailure.usage(
                        "--markdown: " + file + " is there, and has no marks for tables between them;"
                                + " --markdown with a new file writes them");
            }
        }

        /** Writes what is asked for, and says so of images. */
        void write(CompareDocument document, PrintWriter err) throws IOException {
            if (html != null) {
                WholeFile.write(html, ComparePage.of(document));
            }
            if (markdown != null) {
                WholeFile.write(
                        markdown,
                        Files.isRegularFile(markdown)
                                ? CompareMarkdown.renewed(WholeFile.read("--markdown", markdown), document)
                                : CompareMarkdown.marked(document));
            }
            if (png != null) {
                ChartImages.write(document, png).forEach(file -> err.println("sluice: " + file));
                err.flush();
            }
        }
    }
}
