package io.sluice.reactor;

import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import java.util.Collections;
import org.reactivestreams.Publisher;
import org.testng.annotations.Test;
import reactor.core.publisher.Flux;

/** The Reactive Streams rules for a vectored transfer of a list, of which several threads end transfers of several elements. */
@Test
public class ListedTransferFluxVerificationTest extends VectoredVerification {
    private static final int MOST_ELEMENTS = 1 << 20;

    @Override
    public long maxElementsFromPublisher() {
        return MOST_ELEMENTS;
    }

    @Override
    public Publisher<TransferResult> createPublisher(long elements) {
        FakeConnection connection = FakeConnection.forgetful(256, transfer -> pollers.execute(transfer::succeed));
        TransferElement element = connection.element(8);
        return ReactiveConnection.from(connection).writeVectored(Collections.nCopies((int) elements, element));
    }

    @Override
    public Publisher<TransferResult> createFailedPublisher() {
        return Flux.error(new IllegalStateException("a list cannot fail before its elements do"));
    }
}
