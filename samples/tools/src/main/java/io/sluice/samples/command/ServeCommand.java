package io.sluice.samples.command;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.HostAndPort;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.samples.bench.BenchResponder;
import io.sluice.samples.bench.MemoryPlace;
import io.sluice.samples.bench.RegionMemory;
import io.sluice.samples.report.ByteSize;
import java.io.IOException;
import java.lang.foreign.Arena;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "serve", header = "Offer memory that other processes read and write one-sidedly.")
final class ServeCommand extends ProgramCommand {
    /** The name of the region that is offered if the command line gives none. */
    static final String DEFAULT_NAME = "kv";

    @Option(names = "--listen", paramLabel = "HOST:PORT", required = true)
    private HostAndPort listen = ServerOptions.LOOPBACK;

    @Option(names = "--memory", paramLabel = "SIZE", required = true, converter = OptionTypes.ByteSizeConverter.class)
    private long memoryBytes;

    @Option(names = "--regions", paramLabel = "WHOSE", defaultValue = "allocated")
    private RegionMemory regions = RegionMemory.ALLOCATED;

    @Option(names = "--on", paramLabel = "PLACE", defaultValue = "host")
    private MemoryPlace place = MemoryPlace.HOST;

    @Option(names = "--name", paramLabel = "NAME", defaultValue = DEFAULT_NAME)
    private String name = "";

    @Mixin
    private final ServerOptions server = new ServerOptions();

    @Mixin
    private final TransportOption transport = new TransportOption();

    @Mixin
    private final ServerOptions.Drain drain = new ServerOptions.Drain();

    @Mixin
    private final MetricsOption metrics = new MetricsOption();

    ServeCommand(Termination termination) {
        super(termination);
    }

    @Override
    public Integer call() throws IOException {
        require(memoryBytes >= 1, "--memory: give at least 1 byte");
        require(place.isHost() || regions == RegionMemory.ALLOCATED, "--regions registered is for memory of the host");
        RegionOptions region = GpuMemory.locate("--on", place).of(region());
        EngineOptions options =
                transport.engineOptions().listen(listen.host(), listen.port()).build();
        // The engine is closed before the memory goes that it may be given.
        try (MetricsEndpoint watched = metrics.open(spec.commandLine());
                ReadyFile.Writer ready = server.readyFileWriter();
                Arena arena = Arena.ofShared();
                TransferEngine engine = TransferEngine.open(options)) {
            MemoryRegion memory = regions.region(engine, memoryBytes, region, arena);
            engine.onConnection(BenchResponder::attend);
            watched.watch(engine);
            ready.set(ReadyFile.of(engine.address(), memory.descriptor()));
            server.introduce(
                    this, "Offering " + ByteSize.format(memoryBytes) + " as '" + name + "' on " + engine.address());
            server.end(termination).then(drain.drain(engine, termination)).block();
            return ExitCodes.OK;
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
