package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.samples.decode.DecodeNode;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.prefill.PageMover;
import io.sluice.samples.replay.DefaultPool;
import io.sluice.samples.replay.Pacing;
import io.sluice.samples.replay.Replay;
import io.sluice.samples.replay.TraceChoice;
import io.sluice.samples.trace.TraceReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sluice replay}. */
@Command(
        name = "replay",
        header = "Move the KV-cache of a trace of requests between two processes.",
        description = {
            "",
            "A prefill process, this one, fills the KV-cache pages of each request and writes them, one vectored write"
                    + " a layer, straight into the page pool of a decode process, which it starts on this machine or"
                    + " which --connect names. The decode process reuses what it has cached of a request, and checks a"
                    + " checksum of every page that arrives.",
            "",
            "Without --trace the requests are generated, in the shape of an hour of conversations.",
            "",
            "With --metrics-port the prefill process, this one, can be watched while it runs; the decode process cannot.",
            ""
        },
        footer = {
            "",
            "Examples:",
            "  sluice replay --trace conversations.jsonl --requests 200 --json out.json",
            "  sluice replay --trace conversations.jsonl --speed 1 --duration 5m",
            "  sluice replay --model llama-3.1-8b --pool 4GiB --requests 50",
            "  sluice decode --listen 10.0.0.2:7000      (there, with SLUICE_TOKEN set on both)",
            "  sluice replay --connect 10.0.0.2:7000     (here)"
        })
final class ReplayCommand extends ProgramCommand {

    private static final long DEFAULT_GENERATED_REQUESTS = 200;

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = {
                "A trace in the Mooncake format: JSON lines with timestamp, input_length, output_length and hash_ids,"
                        + " packed by gzip or not. Default: generated."
            })
    private @Nullable Path trace;

    @Option(
            names = "--lenient",
            description = "Leave malformed lines of the trace out and count them. Default: the first ends the run.")
    private boolean lenient;

    @Option(
            names = "--requests",
            paramLabel = "N",
            description = {
                "The most requests to replay.",
                "Default: the whole trace; if generated, 200, or as many as go into --duration."
            })
    private @Nullable Long requests;

    @Option(
            names = "--speed",
            paramLabel = "X",
            description = {
                "Replay in the trace's own time, X times as fast as recorded; max is as fast as it goes.",
                "Default: max."
            })
    private Pacing pacing = Pacing.unlimited();

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            description = "Take no new requests after this time, such as 20s or 5m. Default: no limit.")
    private @Nullable Duration duration;

    @Option(
            names = "--pool",
            paramLabel = "SIZE",
            converter = ByteSizeConverter.class,
            description = {
                "Size of the decode process's page pool, such as 8GiB.",
                "Default: room for four of the longest conversations, at most a third of the free memory."
            })
    private @Nullable Long poolBytes;

    @Option(
            names = "--connect",
            paramLabel = "HOST:PORT",
            description = "Use the decode process that listens there ('sluice decode'), instead of starting one.")
    private @Nullable EngineAddress connect;

    @Option(
            names = "--reconnect",
            paramLabel = "TIME",
            description = {
                "With --connect: when the decode process is lost, wait at most so long for it to come back, such as 30s, and"
                        + " move the requests that were under way again.",
                "Default: the run ends with an error."
            })
    private @Nullable Duration patience;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "For the content of the pages, and for a generated trace. Default: ${DEFAULT-VALUE}.")
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
                traceChoice(),
                new Replay.Plan(requestLimit(), pacing, duration, PageMover.Phases.OVERLAPPING),
                model.model(),
                seed,
                poolBytes(model.model()),
                DecodeNode.PoolMemory.ON_DEMAND,
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
        if (patience != null && connect == null) {
            throw CommandFailure.usage(
                    "--reconnect is for a decode process that is started again: give --connect, too");
        }
        return patience;
    }

    private TraceChoice traceChoice() {
        if (trace == null) {
            if (lenient) {
                throw CommandFailure.usage("--lenient is about the lines of a file: give --trace, too");
            }
            return new TraceChoice.Generated(requestLimit(), seed);
        }
        if (!Files.isReadable(trace) || Files.isDirectory(trace)) {
            throw CommandFailure.usage("--trace: " + trace + " is no file that can be read");
        }
        return new TraceChoice.Recorded(trace, lenient ? TraceReader.Mode.LENIENT : TraceReader.Mode.STRICT);
    }

    private long requestLimit() {
        if (requests != null) {
            if (requests < 1) {
                throw CommandFailure.usage("--requests: give 1 or more, not " + requests);
            }
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
