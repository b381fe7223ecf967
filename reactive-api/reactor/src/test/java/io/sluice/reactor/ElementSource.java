package io.sluice.reactor;

import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import java.util.List;
import reactor.core.publisher.Flux;

/** Where the elements of a vectored transfer come from: what is promised holds for both. */
enum ElementSource {
    /** They are all there, and go as few transfers of many elements. */
    LIST {
        @Override
        Flux<TransferResult> write(FakeConnection connection, List<TransferElement> elements) {
            return ReactiveConnection.from(connection).writeVectored(elements);
        }
    },

    /** They come one by one, and each is a transfer. */
    PUBLISHER {
        @Override
        Flux<TransferResult> write(FakeConnection connection, List<TransferElement> elements) {
            return ReactiveConnection.from(connection).writeVectored(Flux.fromIterable(elements));
        }
    };

    abstract Flux<TransferResult> write(FakeConnection connection, List<TransferElement> elements);
}
