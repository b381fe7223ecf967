package io.sluice.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.Signal;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Writes layers, each with a signal: a 64-bit counter in the target's memory that rises once the bytes are there. The
 * target waits for a number of layers and exchanges no message.
 *
 * <p>Run: {@code ./sluice snippet SignalledWrites}
 */
public final class SignalledWrites {
    private static final int LAYERS = 4;
    private static final int LAYER = 4096;

    private SignalledWrites() {}

    public static void main(String[] arguments) {
        ReactiveTransferEngine decode = ReactiveTransferEngine.open();
        ReactiveTransferEngine prefill = ReactiveTransferEngine.open();
        // The counter stands behind the layers in the same region.
        MemoryRegion layers = decode.allocate(LAYERS * LAYER + RemoteSignal.BYTES, RegionOptions.readWrite());
        Signal arrived = layers.signal(LAYERS * LAYER);
        MemoryRegion source = prefill.allocate(LAYER, RegionOptions.local());
        source.segment().setString(0, "a layer");

        CompletableFuture<Long> all = arrived.awaitAtLeast(LAYERS);
        prefill.connect(decode.address())
                .flatMap(connection ->
                        connection.attach(layers.descriptor()).flatMap(remote -> writeAll(connection, source, remote)))
                .block();

        System.out.println(all.join() + " layers have arrived; the last: "
                + layers.segment().getString((LAYERS - 1) * LAYER));
        Mono.when(prefill.close(), decode.close()).block();
    }

    private static Mono<Void> writeAll(ReactiveConnection connection, MemoryRegion source, RemoteRegion remote) {
        RemoteSignal signal = new RemoteSignal(remote, LAYERS * LAYER);
        return Flux.range(0, LAYERS)
                .concatMap(layer -> connection.writeWithSignal(source, remote, (long) layer * LAYER, signal.weak()))
                .then();
    }
}
