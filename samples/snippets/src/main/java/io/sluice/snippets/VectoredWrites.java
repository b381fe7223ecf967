package io.sluice.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import io.sluice.reactor.ReactiveTransferEngine;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Writes a stream of ranges of different sizes. Each has a result of its own, and demand is the brake: at most 16 results
 * are asked for at a time, so no more than that are under way.
 *
 * <p>Run: {@code ./sluice snippet VectoredWrites}
 */
public final class VectoredWrites {
    private static final int RANGES = 100;
    private static final int SLOT = 1024;

    private VectoredWrites() {}

    public static void main(String[] arguments) {
        ReactiveTransferEngine owner = ReactiveTransferEngine.open();
        ReactiveTransferEngine writer = ReactiveTransferEngine.open();
        MemoryRegion target = owner.allocate(RANGES * SLOT, RegionOptions.readWrite());
        MemoryRegion source = writer.allocate(RANGES * SLOT, RegionOptions.local());

        long written = writer.connect(owner.address())
                .flatMap(connection -> connection
                        .attach(target.descriptor())
                        .flatMap(remote -> connection
                                .writeVectored(elements(source, remote))
                                .limitRate(16)
                                .map(TransferResult::bytes)
                                .reduce(0L, Long::sum)))
                .blockOptional()
                .orElseThrow();

        System.out.println(written + " bytes in " + RANGES + " ranges");
        Mono.when(writer.close(), owner.close()).block();
    }

    // Made when they are asked for, and never all at once.
    private static Flux<TransferElement> elements(MemoryRegion source, RemoteRegion remote) {
        return Flux.range(0, RANGES).map(i -> {
            long offset = (long) i * SLOT;
            return new TransferElement(source, offset, remote, offset, i + 1);
        });
    }
}
