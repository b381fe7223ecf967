package io.sluice.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import reactor.core.publisher.Mono;

/**
 * Writes bytes of one engine's memory into another's. The write is one-sided: no code of the target runs for it.
 *
 * <p>Run: {@code ./sluice snippet WriteBytes}
 */
public final class WriteBytes {
    private WriteBytes() {}

    public static void main(String[] arguments) {
        ReactiveTransferEngine owner = ReactiveTransferEngine.open();
        ReactiveTransferEngine writer = ReactiveTransferEngine.open();
        // A peer may write here; a region for local use needs no such right.
        MemoryRegion target = owner.allocate(64, RegionOptions.readWrite());
        MemoryRegion source = writer.allocate(64, RegionOptions.local());
        source.segment().setString(0, "hello");

        long bytes = writer.connect(owner.address())
                .flatMap(connection ->
                        connection.attach(target.descriptor()).flatMap(remote -> connection.write(source, remote, 0)))
                .blockOptional()
                .orElseThrow()
                .bytes();

        System.out.println(bytes + " bytes written: " + target.segment().getString(0));
        Mono.when(writer.close(), owner.close()).block();
    }
}
