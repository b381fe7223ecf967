package io.sluice.reactor;

import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import java.util.stream.LongStream;
import org.reactivestreams.Publisher;
import org.testng.annotations.Test;
import reactor.core.publisher.Flux;

/** The Reactive Streams rules for a vectored transfer that several threads complete. */
@Test
public class VectoredTransferFluxVerificationTest extends VectoredVerification {
    @Override
    public Publisher<TransferResult> createPublisher(long elements) {
        FakeConnection connection = FakeConnection.forgetful(256, transfer -> pollers.execute(transfer::succeed));
        TransferElement element = connection.element(8);
        return ReactiveConnection.from(connection)
                .writeVectored(
                        Flux.fromStream(() -> LongStream.range(0, elements).mapToObj(i -> element)));
    }

    @Override
    public Publisher<TransferResult> createFailedPublisher() {
        FakeConnection connection = FakeConnection.immediate();
        return ReactiveConnection.from(connection).writeVectored(Flux.error(new IllegalStateException("no blocks")));
    }
}
