package io.sluice.reactor.snippets;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The sending process of the page about Reactor. */
final class Sender {
    private Sender() {}

    // begin
    public static void main(String[] arguments) throws Exception {
        Path exchange = Path.of(arguments[0]);
        var engine = ReactiveTransferEngine.open(EngineOptions.fromEnvironment());
        var address = EngineAddress.fromBytes(Files.readAllBytes(exchange.resolve("address")));
        var descriptor = RegionDescriptor.fromBytes(Files.readAllBytes(exchange.resolve("descriptor")));
        MemoryRegion source = engine.allocate(1 << 20, RegionOptions.local());
        source.segment().setString(0, "hello");
        engine.connect(address)
                .flatMap(connection -> connection
                        .attach(descriptor)
                        .flatMap(remote -> connection.write(source, remote, 0))
                        .then(connection.notify("written".getBytes(StandardCharsets.UTF_8))))
                .block();
        engine.close().block();
    }
    // end
}
