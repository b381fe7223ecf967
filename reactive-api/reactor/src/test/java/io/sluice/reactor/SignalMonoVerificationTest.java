package io.sluice.reactor;

import io.sluice.testkit.Patience;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.AfterClass;
import org.testng.annotations.Test;
import reactor.core.publisher.Mono;

/** The Reactive Streams rules for a wait for a counter that another thread changes. */
@Test
public class SignalMonoVerificationTest extends RetriedVerification<Long> {
    private final ExecutorService poller = Executors.newSingleThreadExecutor();

    public SignalMonoVerificationTest() {
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
        FakeSignal signal = new FakeSignal(new FakeRegion(64), 0, wait -> poller.execute(() -> wait.complete(1L)));
        Mono<Long> wait = ReactiveTransferEngine.awaitAtLeast(signal, 1);
        return elements == 0 ? wait.ignoreElement() : wait;
    }

    /** None: it fails only after it was asked for, and the rules want an error without demand here. */
    @Override
    public Publisher<Long> createFailedPublisher() {
        return null;
    }
}
