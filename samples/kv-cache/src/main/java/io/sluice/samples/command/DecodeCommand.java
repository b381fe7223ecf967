package io.sluice.samples.command;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.HostAndPort;
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

@Command(name = "decode", header = "Run the decode side of a replay by itself, for a prefill side on another machine.")
final class DecodeCommand extends ProgramCommand {
    @Option(names = "--listen", paramLabel = "HOST:PORT", required = true)
    private HostAndPort listen = ServerOptions.LOOPBACK;

    @Option(names = "--pool", paramLabel = "SIZE", converter = OptionTypes.ByteSizeConverter.class)
    private @Nullable Long poolBytes;

    @Option(names = "--touch")
    private boolean touch;

    @Option(names = "--once")
    private boolean once;

    @Mixin
    private final ServerOptions server = new ServerOptions();

    @Mixin
    private final ModelOption model = new ModelOption();

    @Mixin
    private final TransportOption transport = new TransportOption();

    @Mixin
    private final ServerOptions.Drain drain = new ServerOptions.Drain();

    DecodeCommand(Termination termination) {
        super(termination);
    }

    @Override
    public Integer call() throws IOException {
        long bytes = poolBytes == null ? DefaultPool.bytes(model.model()) : poolBytes;
        PageGeometry geometry = PageGeometry.fitting(model.model(), bytes);
        EngineOptions options =
                transport.engineOptions().listen(listen.host(), listen.port()).build();
        try (ReadyFile.Writer ready = server.readyFileWriter();
                TransferEngine engine = TransferEngine.open(options)) {
            DecodeNode node = new DecodeNode(ReactiveTransferEngine.from(engine), model.model(), geometry, touch);
            // A reader of the file may connect at once; such a connection waits.
            ready.set(ReadyFile.of(node.address()));
            server.introduce(
                    this,
                    "Listening on " + node.address() + " with a page pool of " + ByteSize.format(geometry.poolBytes())
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
        server.introduce(
                this,
                "Received " + report.requests() + " requests, checked " + report.pagesChecked() + " pages, "
                        + report.pagesCorrupted() + " of them corrupted"
                        + (error == null ? "" : "; it ended early: " + error.getMessage()));
    }
}
