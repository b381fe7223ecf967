package io.sluice.directory.contract;

import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.time.Duration;

/** The program that {@link PublisherProcess} starts. */
public final class PublisherProgram {
    static final String READY = "!READY";

    private PublisherProgram() {}

    /**
     * Returns the options of a publisher.
     *
     * @param lease how long its entry outlives it
     * @return options with a long request time-out, for busy machines
     */
    public static DirectoryOptions options(Duration lease) {
        return DirectoryOptions.defaults()
                .withLeaseTime(lease)
                .withRequestTimeout(Patience.scaled(Duration.ofSeconds(10)));
    }

    /**
     * Returns the options of a publisher whose lease is a program argument.
     *
     * @param lease the lease as {@link Duration} prints it
     * @return the options
     */
    public static DirectoryOptions options(String lease) {
        return options(Duration.parse(lease));
    }

    /**
     * Opens an engine, publishes it, reports that, and runs until its standard input ends.
     *
     * @param directory the directory to publish in
     * @param name the name to publish
     * @throws IOException if its standard input cannot be read
     */
    public static void run(Directory directory, String name) throws IOException {
        try (TransferEngine engine =
                TransferEngine.open(PatientOptions.builder().build())) {
            engine.allocate(
                    ContractPublisher.REGION_BYTES, RegionOptions.readWrite().named(ContractPublisher.REGION));
            directory.publish(Advertisement.of(name, engine)).block(Patience.BOUND);
            System.out.println(READY + " " + engine.address() + " " + Long.toHexString(engine.epoch()));
            while (System.in.read() >= 0) {
                // discards input until the parent closes the pipe
            }
        }
        // exits without waiting for the threads of clients
        System.exit(0);
    }
}
