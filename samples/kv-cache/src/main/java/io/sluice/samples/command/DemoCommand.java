package io.sluice.samples.command;

import io.sluice.samples.decode.DecodeNode;
import io.sluice.samples.prefill.PageMover;
import io.sluice.samples.replay.DefaultPool;
import io.sluice.samples.replay.Pacing;
import io.sluice.samples.replay.Replay;
import io.sluice.samples.replay.TraceChoice;
import io.sluice.samples.report.ByteSize;
import io.sluice.samples.report.ReplaySummary;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sluice demo}. */
@Command(
        name = "demo",
        header = "Watch KV-cache traffic move between two processes, for about half a minute.",
        description = {
            "",
            "A replay of a generated trace with everything at its default; both processes are started and ended for"
                    + " you. 'sluice replay' takes a trace of your own, and more options.",
            "",
            "Requests are replayed one at a time, and pages are filled before they are written and checked after, so"
                    + " that it can be told at the end how fast the writes alone were: once more with --transport shows"
                    + " how fast another transport is. 'sluice replay' does all that at the same time.",
            "",
            "With --metrics-port the prefill process, this one, can be watched while it runs; the decode process cannot.",
            ""
        },
        footer = {
            "",
            "Examples:",
            "  sluice demo",
            "  sluice demo --transport tcp",
            "  sluice demo --model qwen2.5-7b --duration 1m"
        })
final class DemoCommand extends ProgramCommand {

    private static final long SEED = 1;
    private static final int EXAMPLE_TOKENS = 1000;

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            defaultValue = "20s",
            description = "How long new requests are sent. Default: ${DEFAULT-VALUE}.")
    private Duration duration = Duration.ZERO;

    @Mixin
    private final SummaryOption summary = new SummaryOption();

    @Mixin
    private final ModelOption model = new ModelOption();

    @Mixin
    private final TransportOption transport = new TransportOption();

    @Mixin
    private final MetricsOption metrics = new MetricsOption();

    DemoCommand(Termination termination) {
        super(termination);
    }

    @Override
    public Integer call() throws IOException {
        long poolBytes = DefaultPool.bytesForOne(model.model());
        ReplayRun.Settings settings = new ReplayRun.Settings(
                new TraceChoice.Generated(Long.MAX_VALUE, SEED),
                new Replay.Plan(Long.MAX_VALUE, Pacing.unlimited(), duration, PageMover.Phases.SEPARATE),
                model.model(),
                SEED,
                poolBytes,
                DecodeNode.PoolMemory.TOUCHED,
                transport.engineOptions().noListener().build(),
                transport.arguments(),
                null,
                null,
                summary);
        try (MetricsEndpoint watched = metrics.open(spec.commandLine())) {
            introduce(poolBytes);
            return new ReplayRun(settings, watched, this, this::conclude).run();
        }
    }

    private void introduce(long poolBytes) {
        PrintWriter out = out();
        long tokenBytes = (long) model.model().layers() * model.model().bytesPerToken();
        out.println("Two processes on this machine play a model service that is split in two:");
        out.println("  prefill (this one) computes the KV-cache of each request, here made-up bytes, and writes it,");
        out.println("  decode (another one) holds it in a page pool of " + ByteSize.format(poolBytes) + ".");
        out.println("The model is " + model.model().name() + ": " + EXAMPLE_TOKENS + " tokens of a conversation are "
                + ByteSize.format(EXAMPLE_TOKENS * tokenBytes) + " of KV-cache, in "
                + model.model().layers()
                + " layers.");
        out.println(
                "Prefill writes each layer straight into decode's memory, which takes no part in that. What decode");
        out.println("has cached is not sent again, and a checksum of every page that arrives is checked.");
        out.println("New requests are sent for " + duration.toSeconds() + " s; Ctrl-C ends it earlier.");
        out.println();
        out.flush();
    }

    private void conclude(ReplaySummary summary) {
        PrintWriter out = out();
        out.println();
        out.println("Every page is accounted for, and every page that was moved arrived as it was sent.");
        out.println();
        out.println(writesAlone(summary));
        out.println(
                "The clock ran from the submission of a burst of pages to the completion of its last write, and stood");
        out.println(
                "still while prefill filled the pages of the next burst and while decode checked those of a request:");
        out.println(
                "as there was one request at a time, neither side did anything else while it ran. The page pool had been");
        out.println("touched before, so no write waited for the kernel to find memory.");
        out.println();
        out.println("To compare with another transport: sluice demo --transport NAME; 'sluice info' lists them.");
        out.println("To replay a recorded trace, with all of that at the same time: sluice replay --trace FILE");
        out.flush();
    }

    private static String writesAlone(ReplaySummary summary) {
        return String.format(
                Locale.ROOT,
                "The writes alone, over %s: %.3f GB/s (%s in %.3f s).",
                summary.transport(),
                summary.writeGigabytesPerSecond(),
                ByteSize.format(summary.bytes()),
                summary.writeSeconds());
    }
}
