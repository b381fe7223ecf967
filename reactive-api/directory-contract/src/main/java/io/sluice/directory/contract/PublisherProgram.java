package io.sluice.directory.contract;

import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.time.Duration;

/** The program of the process that {@link PublisherProcess} starts. */
public final class PublisherProgram {
    static final String READY = "!READY";

    private PublisherProgram() {}

    /**
     * The times that a publisher lives by.
     *
     * @param lease how long its entry outlives it
     * @return with requests that may take long, as on a busy machine
     */
    public static DirectoryOptions options(Duration lease) {
        return DirectoryOptions.defaults()
                .withLeaseTime(lease)
                .withRequestTimeout(Patience.scaled(Duration.ofSeconds(10)));
    }

    /**
     * The same in a process that was started with the lease as an argument.
     *
     * @param lease as {@link Duration} writes it
     * @return the times
     */
    public static DirectoryOptions options(String lease) {
        return options(Duration.parse(lease));
    }

    /**
     * Opens an engine, publishes it, says so, and lives until its standard input ends.
     *
     * @param directory where to publish
     * @param name under which
     * @throws IOException if its standard input cannot be read
     */
    public static void run(Directory directory, String name) throws IOException {
        EngineOptions options = EngineOptions.builder()
                .connectTimeout(Patience.BOUND)
                .handshakeTimeout(Patience.BOUND)
                .build();
        try (TransferEngine engine = TransferEngine.open(options)) {
            engine.allocate(
                    ContractPublisher.REGION_BYTES, RegionOptions.readWrite().named(ContractPublisher.REGION));
            directory.publish(Advertisement.of(name, engine)).block(Patience.BOUND);
            System.out.println(READY + " " + engine.address() + " " + Long.toHexString(engine.epoch()));
            while (System.in.read() >= 0) {
                // It has nothing to say.
            }
        }
        // The clients' threads need not end first.
        System.exit(0);
    }
}
