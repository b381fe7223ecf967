package io.sluice.engine.flow;

import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The engine's overhead for a transfer, from its start to its terminal signal, when an endpoint accepts it at once and completes
 * it at once: on one thread, so that no hand-over between threads is in it.
 */
@BenchmarkMode(Mode.AverageTime)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class TransferBenchmark {
    private static final int ELEMENTS = 64;

    private final SteppedFlow stepped = new SteppedFlow();
    private final FlowTransfer prepared = stepped.write(TransferOptions.defaults(), this::terminated);
    private final FlowTransfer vectored = stepped.vectoredWrite(ELEMENTS, new CountedElements());
    private long ended;
    private long failed;

    private final class CountedElements implements VectoredTransferCallback {
        @Override
        public void element(int index, @Nullable SluiceException error) {
            failed += error == null ? 0 : 1;
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            TransferBenchmark.this.terminated(transfer, error);
        }
    }

    private void terminated(Transfer transfer, @Nullable SluiceException error) {
        ended++;
        failed += error == null ? 0 : 1;
    }

    /**
     * Start, mailbox, credits, posting, completion and terminal signal of a prepared transfer.
     *
     * @return how many have ended
     */
    @Benchmark
    public long preparedTransfer() {
        SteppedFlow.start(prepared);
        stepped.settle();
        return ended;
    }

    /**
     * The same, but checked and created for each transfer.
     *
     * @return how many have ended
     */
    @Benchmark
    public long newTransfer() {
        SteppedFlow.start(stepped.write(TransferOptions.defaults(), this::terminated));
        stepped.settle();
        return ended;
    }

    /**
     * Posting and completion dispatch of one element, where one start serves many.
     *
     * @return how many transfers have ended
     */
    @Benchmark
    @OperationsPerInvocation(ELEMENTS)
    public long vectoredElement() {
        SteppedFlow.start(vectored);
        stepped.settle();
        return ended;
    }

    /** Fails where a benchmark has measured something else than transfers that succeed. */
    @TearDown
    public void check() {
        if (ended == 0 || failed != 0 || !stepped.isAtRest()) {
            throw new IllegalStateException(ended + " transfers have ended, " + failed + " of them with an error");
        }
    }
}
