package io.sluice.samples.command;

import io.sluice.samples.bench.MemoryPlace;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.prefill.PageMover;
import io.sluice.samples.replay.DefaultPool;
import io.sluice.samples.replay.Pacing;
import io.sluice.samples.replay.Replay;
import io.sluice.samples.report.ByteSize;
import io.sluice.samples.report.ReplaySummary;
import io.sluice.samples.trace.TraceReader;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "demo", header = "Watch KV-cache traffic move between two processes, for about half a minute.")
final class DemoCommand extends ProgramCommand {
    private static final long SEED = 1;
    private static final int EXAMPLE_TOKENS = 1000;

    @Option(names = "--duration", paramLabel = "TIME", defaultValue = "20s")
    private Duration duration = Duration.ZERO;

    @Option(names = "--memory", paramLabel = "PLACE", defaultValue = "host")
    private MemoryPlace memory = MemoryPlace.HOST;

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
        if (!memory.isHost()) {
            try (MetricsEndpoint watched = metrics.open(spec.commandLine())) {
                return new GpuDemo(model.model(), memory, duration).run(this, transport, summary.file(), watched);
            }
        }
        long poolBytes = DefaultPool.bytesForOne(model.model());
        ReplayRun.Settings settings = new ReplayRun.Settings(
                null,
                TraceReader.Mode.STRICT,
                new Replay.Plan(Long.MAX_VALUE, Pacing.unlimited(), duration, PageMover.Phases.SEPARATE),
                model.model(),
                SEED,
                poolBytes,
                true,
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
        ModelPreset moved = model.model();
        say(String.format(
                Locale.ROOT,
                """
                Two processes on this machine play a model service that is split in two:
                  prefill (this one) computes the KV-cache of each request, here made-up bytes, and writes it,
                  decode (another one) holds it in a page pool of %s.
                The model is %s: %d tokens of a conversation are %s of KV-cache, in %d layers.
                Prefill writes each layer straight into decode's memory, which takes no part in that. Pages that decode
                has cached are not sent again, and a checksum of every page that arrives is checked.
                New requests are sent for %d s; Ctrl-C ends it earlier.
                """,
                ByteSize.format(poolBytes),
                moved.name(),
                EXAMPLE_TOKENS,
                ByteSize.format((long) EXAMPLE_TOKENS * moved.layers() * moved.bytesPerToken()),
                moved.layers(),
                duration.toSeconds()));
    }

    private void conclude(ReplaySummary summary) {
        say(String.format(
                Locale.ROOT,
                """

                Every page is accounted for, and every page that was moved arrived as it was sent.

                The writes alone, over %s: %.3f GB/s (%s in %.3f s).
                The clock ran from the submission of a burst of pages to the completion of its last write, and stood
                still while prefill filled the pages of the next burst and while decode checked those of a request:
                as there was one request at a time, neither side did anything else while it ran. The page pool had been
                touched before, so no write waited for the kernel to find memory.

                To compare with another transport: sluice demo --transport NAME; 'sluice info' lists them.
                To replay a recorded trace, with all of that at the same time: sluice replay --trace FILE\
                """,
                summary.transport(),
                summary.writeGigabytesPerSecond(),
                ByteSize.format(summary.bytes()),
                summary.writeSeconds()));
    }
}
