package io.sluice.reactor;

import io.sluice.collectives.Collective;
import io.sluice.testkit.Patience;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.AfterClass;
import org.testng.annotations.Test;
import reactor.core.publisher.Mono;

/** The Reactive Streams rules for a collective that another thread ends. */
@Test
public class CollectiveMonoVerificationTest extends RetriedVerification<Collective> {
    private final ExecutorService loop = Executors.newSingleThreadExecutor();

    public CollectiveMonoVerificationTest() {
        super(new TestEnvironment(Patience.BOUND.toMillis(), 50, 50));
    }

    @AfterClass
    public void stopLoop() {
        loop.shutdownNow();
    }

    @Override
    public long maxElementsFromPublisher() {
        return 1;
    }

    @Override
    public Publisher<Collective> createPublisher(long elements) {
        Mono<Collective> collective = new CollectiveMono<Collective>(
                        "barrier",
                        callback -> {
                            FakeCollective called = new FakeCollective(callback, 0);
                            loop.execute(called::succeed);
                            return called;
                        },
                        new AbandonedCalls())
                .assembled();
        return elements == 0 ? collective.ignoreElement() : collective;
    }

    /** None: it fails only after it was asked for, and the rules want an error without demand here. */
    @Override
    public Publisher<Collective> createFailedPublisher() {
        return null;
    }
}
