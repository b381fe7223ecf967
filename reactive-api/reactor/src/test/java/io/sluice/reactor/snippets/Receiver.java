package io.sluice.reactor.snippets;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** The receiving process of the page about Reactor. */
final class Receiver {
    private Receiver() {}

    // begin
    public static void main(String[] arguments) throws Exception {
        Path exchange = Path.of(arguments[0]);
        var engine = ReactiveTransferEngine.open(EngineOptions.fromEnvironment());
        MemoryRegion target = engine.allocate(1 << 20, RegionOptions.readWrite());
        Files.write(exchange.resolve("address"), engine.address().toBytes());
        Files.write(exchange.resolve("descriptor"), target.descriptor().toBytes());
        byte[] message =
                engine.accepted().flatMap(ReactiveConnection::notifications).blockFirst();
        System.out.println(new String(message, StandardCharsets.UTF_8) + ": "
                + target.segment().getString(0));
        engine.shutdown(Duration.ofSeconds(10)).block();
    }
    // end
}
