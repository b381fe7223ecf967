package io.sluice.samples.compare;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import java.time.Duration;

/** A program that writes 8 bytes into another process's region, and ends. */
final class FirstTransfer {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private FirstTransfer() {}

    /** Takes the port of this machine that the other process listens on, and the name of its region. */
    public static void main(String[] arguments) {
        EngineAddress address = EngineAddress.of("127.0.0.1", Integer.parseInt(arguments[0]));
        ReactiveTransferEngine engine = ReactiveTransferEngine.open(EngineOptions.builder()
                .environment(System.getenv())
                .noListener()
                .build());
        MemoryRegion source = engine.allocate(Long.BYTES, RegionOptions.local());
        engine.connect(address)
                .flatMap(connection -> connection
                        .lookup(arguments[1])
                        .flatMap(connection::attach)
                        .flatMap(remote -> connection.write(source, remote, 0)))
                .block(PATIENCE);
        System.out.println("written");
        engine.close().block(PATIENCE);
    }
}
