package io.sluice.samples.command;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.samples.decode.DecodeNode;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.replay.DefaultPool;
import io.sluice.samples.report.ByteSize;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;

/** {@code sluice decode}. */
@Command(
        name = "decode",
        header = "Run the decode side of a replay by itself, for a prefill side on another machine.",
        description = {
            "",
            "Offers a page pool and waits for 'sluice replay --connect'. Serves one prefill process after another, each"
                    + " with an empty pool, until it gets SIGTERM or SIGINT.",
            "",
            "Beyond loopback both sides need the same secret in SLUICE_TOKEN, at least 16 bytes.",
            ""
        },
        footer = {
            "",
            "Examples:",
            "  sluice decode --listen 127.0.0.1:7000",
            "  SLUICE_TOKEN=… sluice decode --listen 0.0.0.0:7000 --model llama-3.1-8b --pool 16GiB"
        })
final class DecodeCommand extends ProgramCommand {

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            required = true,
            description = "Where to listen; port 0 is any free one.")
    private ListenAddress listen = ListenAddress.LOOPBACK;

    @Option(
            names = "--pool",
            paramLabel = "SIZE",
            converter = ByteSizeConverter.class,
            description = {
                "Size of the page pool, such as 8GiB.",
                "Default: room for four of the longest conversations, at most a third of the free memory."
            })
    private @Nullable Long poolBytes;

    @Option(
            names = "--touch",
            description =
                    "Touch all of the page pool before a prefill process is served, so that no write waits for the"
                            + " kernel to find memory.")
    private boolean touch;

    @Option(names = "--once", description = "End after the first prefill process.")
    private boolean once;

    @Mixin
    private final ServerOptions server = new ServerOptions();

    @Mixin
    private final ModelOption model = new ModelOption();

    @Mixin
    private final TransportOption transport = new TransportOption();

    @Mixin
    private final DrainOption drain = new DrainOption();

    DecodeCommand(Termination termination) {
        super(termination);
    }

    @Override
    public Integer call() throws IOException {
        long bytes = poolBytes == null ? DefaultPool.bytes(model.model()) : poolBytes;
        PageGeometry geometry = PageGeometry.fitting(model.model(), bytes);
        EngineOptions options =
                transport.engineOptions().listen(listen.host(), listen.port()).build();
        try (ReadyFile.Mark ready = server.mark();
                TransferEngine engine = TransferEngine.open(options)) {
            DecodeNode.PoolMemory memory = touch ? DecodeNode.PoolMemory.TOUCHED : DecodeNode.PoolMemory.ON_DEMAND;
            DecodeNode node = new DecodeNode(ReactiveTransferEngine.from(engine), model.model(), geometry, memory);
            // A reader of the file may connect at once; such a connection waits.
            ready.set(ReadyFile.of(node.address()));
            introduce("Listening on " + node.address() + " with a page pool of " + ByteSize.format(geometry.poolBytes())
                    + " for " + model.model().name());
            sessions(node)
                    .takeUntilOther(server.end(termination).then(drain.drain(engine, termination)))
                    .doOnNext(this::report)
                    .blockLast();
            return ExitCodes.OK;
        }
    }

    private Flux<DecodeNode.SessionReport> sessions(DecodeNode node) {
        return once ? node.sessions().take(1) : node.sessions();
    }

    private void report(DecodeNode.SessionReport report) {
        Throwable error = report.error();
        introduce("Received " + report.requests() + " requests, checked " + report.pagesChecked() + " pages, "
                + report.pagesCorrupted() + " of them corrupted"
                + (error == null ? "" : "; it ended early: " + error.getMessage()));
    }

    /** A parent process prints its own. */
    private void introduce(String what) {
        if (!server.isChild()) {
            say(what);
        }
    }
}
