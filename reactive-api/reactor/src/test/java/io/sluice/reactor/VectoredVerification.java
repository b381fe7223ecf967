package io.sluice.reactor;

import io.sluice.engine.TransferResult;
import io.sluice.testkit.Patience;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.reactivestreams.tck.TestEnvironment;
import org.testng.annotations.AfterClass;
import org.testng.annotations.Test;

/**
 * The rules for vectored transfers whose elements end on two threads. Results come in the order of completion, and each subscriber
 * has a transfer of its own: whether two subscribers see the same sequence is a matter of chance, so the optional rules about that
 * do not apply.
 */
public abstract class VectoredVerification extends RetriedVerification<TransferResult> {
    private static final String UNORDERED = "Each subscriber gets the results in the order of completion.";

    /** Completes the elements. */
    protected final ExecutorService pollers = Executors.newFixedThreadPool(2);

    protected VectoredVerification() {
        super(new TestEnvironment(Patience.BOUND.toMillis(), 50, 50));
    }

    @AfterClass
    public void stopPollers() {
        pollers.shutdownNow();
    }

    @Override
    @Test
    public void
            optional_spec111_multicast_mustProduceTheSameElementsInTheSameSequenceToAllOfItsSubscribersWhenRequestingManyUpfront() {
        notVerified(UNORDERED);
    }

    @Override
    @Test
    public void
            optional_spec111_multicast_mustProduceTheSameElementsInTheSameSequenceToAllOfItsSubscribersWhenRequestingManyUpfrontAndCompleteAsExpected() {
        notVerified(UNORDERED);
    }

    @Override
    @Test
    public void
            optional_spec111_multicast_mustProduceTheSameElementsInTheSameSequenceToAllOfItsSubscribersWhenRequestingOneByOne() {
        notVerified(UNORDERED);
    }
}
