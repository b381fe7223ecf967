package io.sluice.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import reactor.core.publisher.Mono;

/**
 * Finds a region by its name at the peer and reads a part of it.
 *
 * <p>Run: {@code ./sluice snippet ReadBytes}
 */
public final class ReadBytes {
    private static final int PART = 1024;

    private ReadBytes() {}

    public static void main(String[] arguments) {
        ReactiveTransferEngine owner = ReactiveTransferEngine.open();
        ReactiveTransferEngine reader = ReactiveTransferEngine.open();
        MemoryRegion weights = owner.allocate(4096, RegionOptions.readOnly().named("weights"));
        weights.segment().setString(PART, "the second kilobyte");
        MemoryRegion copy = reader.allocate(PART, RegionOptions.local());

        // The name is looked up at the peer, so its address is all that has to be known.
        reader.connect(owner.address())
                .flatMap(connection -> connection
                        .lookup("weights")
                        .flatMap(connection::attach)
                        .flatMap(remote -> connection.read(copy, 0, remote, PART, PART, TransferOptions.defaults())))
                .block();

        System.out.println("read: " + copy.segment().getString(0));
        Mono.when(reader.close(), owner.close()).block();
    }
}
