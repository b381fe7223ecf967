package io.sluice.samples.command;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.samples.bench.BenchResponder;
import io.sluice.samples.bench.RegionMemory;
import io.sluice.samples.report.ByteSize;
import java.io.IOException;
import java.lang.foreign.Arena;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sluice serve}. */
@Command(
        name = "serve",
        header = "Offer memory that other processes read and write one-sidedly.",
        description = {
            "",
            "Makes one memory region, zeroed, and offers it under a name to peers that may connect, until it gets"
                    + " SIGTERM or SIGINT. A peer connects with TransferEngine.connect, and finds the region with"
                    + " Connection.lookup, or attaches the descriptor from the ready file.",
            "",
            "It is also the serving side of 'sluice bench --connect': it takes notifications, and answers those of a"
                    + " measurement.",
            "",
            "Beyond loopback both sides need the same secret in SLUICE_TOKEN, at least 16 bytes.",
            ""
        },
        footer = {
            "",
            "The ready file has the fields host, port, address (EngineAddress.toBytes in base64) and region",
            "(RegionDescriptor.toBytes in base64). It is written in one step, and removed at the end.",
            "",
            "Examples:",
            "  sluice serve --listen 127.0.0.1:7000 --memory 1GiB",
            "  sluice serve --listen 127.0.0.1:0 --memory 64MiB --ready-file /run/user/1000/sluice.json",
            "  SLUICE_TOKEN=… sluice serve --listen 0.0.0.0:7000 --memory 16GiB --name scratch"
        })
final class ServeCommand extends ProgramCommand {

    /** The name of the region that is offered if the command line gives none. */
    static final String DEFAULT_NAME = "kv";

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            required = true,
            description = "Where to listen; port 0 is any free one.")
    private ListenAddress listen = ListenAddress.LOOPBACK;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            required = true,
            converter = ByteSizeConverter.class,
            description = "Size of the region, such as 1GiB.")
    private long memoryBytes;

    @Option(
            names = "--regions",
            paramLabel = "WHOSE",
            defaultValue = "allocated",
            description = "allocated: the engine allocates the memory; registered: it is this program's own, registered"
                    + " with the engine. Default: ${DEFAULT-VALUE}.")
    private RegionMemory regions = RegionMemory.ALLOCATED;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            defaultValue = DEFAULT_NAME,
            description = "The region's name. Default: ${DEFAULT-VALUE}.")
    private String name = "";

    @Mixin
    private final ServerOptions server = new ServerOptions();

    @Mixin
    private final TransportOption transport = new TransportOption();

    @Mixin
    private final DrainOption drain = new DrainOption();

    @Mixin
    private final MetricsOption metrics = new MetricsOption();

    ServeCommand(Termination termination) {
        super(termination);
    }

    @Override
    public Integer call() throws IOException {
        if (memoryBytes < 1) {
            throw CommandFailure.usage("--memory: give at least 1 byte");
        }
        RegionOptions region = region();
        EngineOptions options =
                transport.engineOptions().listen(listen.host(), listen.port()).build();
        // The engine is closed before the memory goes that it may be given.
        try (MetricsEndpoint watched = metrics.open(spec.commandLine());
                ReadyFile.Mark ready = server.mark();
                Arena arena = Arena.ofShared();
                TransferEngine engine = TransferEngine.open(options)) {
            MemoryRegion memory = regions.region(engine, memoryBytes, region, arena);
            engine.onConnection(BenchResponder::attend);
            watched.watch(engine);
            ready.set(ReadyFile.of(engine.address(), memory.descriptor()));
            introduce("Offering " + ByteSize.format(memoryBytes) + " as '" + name + "' on " + engine.address());
            server.end(termination).then(drain.drain(engine, termination)).block();
            return ExitCodes.OK;
        }
    }

    /** A parent process prints its own. */
    private void introduce(String what) {
        if (!server.isChild()) {
            say(what);
        }
    }

    private RegionOptions region() {
        try {
            return RegionOptions.readWrite().named(name);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage("--name: " + e.getMessage());
        }
    }
}
