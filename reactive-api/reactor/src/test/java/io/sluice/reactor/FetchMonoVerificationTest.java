package io.sluice.reactor;

import io.sluice.testkit.Patience;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.AfterClass;
import org.testng.annotations.Test;

/** The Reactive Streams rules for an atomic operation that another thread completes. */
@Test
public class FetchMonoVerificationTest extends RetriedVerification<Long> {
    private final ExecutorService poller = Executors.newSingleThreadExecutor();

    public FetchMonoVerificationTest() {
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
    public Publisher<Long> createPublisher(long elements) {
        FakeConnection connection =
                FakeConnection.forgetful(256, transfer -> poller.execute(() -> transfer.fetched(1)));
        ReactiveConnection reactive = ReactiveConnection.from(connection);
        return elements == 0
                ? reactive.notify(new byte[1]).cast(Long.class)
                : reactive.fetchAdd(connection.remote(), 0, 1);
    }

    /** None: it fails only after it was asked for, and the rules want an error without demand here. */
    @Override
    public Publisher<Long> createFailedPublisher() {
        return null;
    }
}
