package io.sluice.directory.contract;

import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.io.IOException;
import java.time.Duration;

/** What runs in the process that {@link PublisherProcess} starts. */
public final class PublisherProgram {
    static final String READY = "!READY";

    private PublisherProgram() {}

    /**
     * The times that a publisher lives by.
     *
     * @return a lease that expires soon
     */
    public static DirectoryOptions options() {
        return DirectoryOptions.defaults().withLeaseTime(Duration.ofSeconds(2));
    }

    /**
     * Opens an engine, publishes it, says so, and lives until its standard input ends.
     *
     * @param directory where to publish
     * @param name under which
     * @throws IOException if its standard input cannot be read
     */
    public static void run(Directory directory, String name) throws IOException {
        try (TransferEngine engine = TransferEngine.open(EngineOptions.defaults())) {
            engine.allocate(
                    ContractPublisher.REGION_BYTES, RegionOptions.readWrite().named(ContractPublisher.REGION));
            directory.publish(Advertisement.of(name, engine)).block(Bounds.PATIENCE);
            System.out.println(READY + " " + engine.address() + " " + Long.toHexString(engine.epoch()));
            while (System.in.read() >= 0) {
                // It has nothing to say.
            }
        }
        // The clients' threads need not end first.
        System.exit(0);
    }
}
