package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.prefill.PageMover;
import io.sluice.samples.replay.DefaultPool;
import io.sluice.samples.replay.Pacing;
import io.sluice.samples.replay.Replay;
import io.sluice.samples.trace.TraceReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "replay", header = "Move the KV-cache of a trace of requests between two processes.")
final class ReplayCommand extends ProgramCommand {
    private static final long DEFAULT_GENERATED_REQUESTS = 200;

    @Option(names = "--trace", paramLabel = "FILE")
    private @Nullable Path trace;

    @Option(names = "--lenient")
    private boolean lenient;

    @Option(names = "--requests", paramLabel = "N")
    private @Nullable Long requests;

    @Option(names = "--speed", paramLabel = "X")
    private Pacing pacing = Pacing.unlimited();

    @Option(names = "--duration", paramLabel = "TIME")
    private @Nullable Duration duration;

    @Option(names = "--pool", paramLabel = "SIZE", converter = OptionTypes.ByteSizeConverter.class)
    private @Nullable Long poolBytes;

    @Option(names = "--connect", paramLabel = "HOST:PORT")
    private @Nullable EngineAddress connect;

    @Option(names = "--reconnect", paramLabel = "TIME")
    private @Nullable Duration patience;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1")
    private long seed;

    @Mixin
    private final SummaryOption summary = new SummaryOption();

    @Mixin
    private final ModelOption model = new ModelOption();

    @Mixin
    private final TransportOption transport = new TransportOption();

    @Mixin
    private final MetricsOption metrics = new MetricsOption();

    ReplayCommand(Termination termination) {
        super(termination);
    }

    @Override
    public Integer call() throws IOException {
        ReplayRun.Settings settings = new ReplayRun.Settings(
                recorded(),
                lenient ? TraceReader.Mode.LENIENT : TraceReader.Mode.STRICT,
                new Replay.Plan(requestLimit(), pacing, duration, PageMover.Phases.OVERLAPPING),
                model.model(),
                seed,
                poolBytes(model.model()),
                false,
                transport.engineOptions().noListener().build(),
                transport.arguments(),
                connect,
                patience(),
                summary);
        try (MetricsEndpoint watched = metrics.open(spec.commandLine())) {
            return new ReplayRun(settings, watched, this, summary -> {}).run();
        }
    }

    private @Nullable Duration patience() {
        require(
                patience == null || connect != null,
                "--reconnect is for a decode process that is started again: give --connect, too");
        return patience;
    }

    private @Nullable Path recorded() {
        require(trace != null || !lenient, "--lenient is about the lines of a file: give --trace, too");
        require(
                trace == null || (Files.isReadable(trace) && !Files.isDirectory(trace)),
                "--trace: " + trace + " is no file that can be read");
        return trace;
    }

    private long requestLimit() {
        if (requests != null) {
            require(requests >= 1, "--requests: give 1 or more, not " + requests);
            return requests;
        }
        return trace == null && duration == null ? DEFAULT_GENERATED_REQUESTS : Long.MAX_VALUE;
    }

    private long poolBytes(ModelPreset of) {
        if (poolBytes == null) {
            return DefaultPool.bytes(of);
        }
        if (connect != null) {
            throw CommandFailure.usage("--pool is for the decode process that is started here; the one at --connect has"
                    + " its own: give its --pool there");
        }
        // Complains if not even one page fits.
        return PageGeometry.fitting(of, poolBytes).poolBytes();
    }
}
