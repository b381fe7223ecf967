package io.sluice.reactor;

import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.AfterClass;
import org.testng.annotations.Test;
import reactor.core.publisher.Flux;

/** The Reactive Streams rules for a vectored transfer that several threads complete. */
@Test
public class VectoredTransferFluxVerificationTest extends RetriedVerification<TransferResult> {
    private final ExecutorService pollers = Executors.newFixedThreadPool(2);

    public VectoredTransferFluxVerificationTest() {
        super(new TestEnvironment(Patience.BOUND.toMillis(), 50, 50));
    }

    @AfterClass
    public void stopPollers() {
        pollers.shutdownNow();
    }

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
