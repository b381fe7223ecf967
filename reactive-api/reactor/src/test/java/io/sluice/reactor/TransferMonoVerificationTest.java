package io.sluice.reactor;

import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.AfterClass;
import org.testng.annotations.Test;

/** The Reactive Streams rules for a single transfer that another thread completes. */
@Test
public class TransferMonoVerificationTest extends RetriedVerification<TransferResult> {
    private final ExecutorService poller = Executors.newSingleThreadExecutor();

    public TransferMonoVerificationTest() {
        super(new TestEnvironment(Patience.BOUND.toMillis(), 50, 50));
    }

    @AfterClass
    public void stopPoller() {
        poller.shutdownNow();
    }

    @Override
    public long maxElementsFromPublisher() {
        return 1;
    }

    @Override
    public Publisher<TransferResult> createPublisher(long elements) {
        FakeConnection connection = FakeConnection.forgetful(256, transfer -> poller.execute(transfer::succeed));
        ReactiveConnection reactive = ReactiveConnection.from(connection);
        return elements == 0
                ? reactive.notify(new byte[1]).cast(TransferResult.class)
                : reactive.write(new FakeRegion(8), connection.remote(), 0);
    }

    /** None: a transfer fails only after it was asked for, and the rules want an error without demand here. */
    @Override
    public Publisher<TransferResult> createFailedPublisher() {
        return null;
    }
}
