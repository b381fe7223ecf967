package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.ErrorKind;
import io.sluice.engine.TransferOptions;
import org.junit.jupiter.api.Test;

/** The counters and times of a flow. */
class FlowFiguresTest {
    private static final long SECOND = 1_000_000_000L;

    private final SteppedFlow stepped = new SteppedFlow();
    private final FlowCounters counters = stepped.counters.transport();

    private long[] buckets(LatencyKind kind) {
        long[] counts = new long[LatencyBuckets.COUNT];
        counters.addTo(Operation.WRITE, kind, counts);
        return counts;
    }

    private long sum(LatencyKind kind) {
        return counters.addTo(Operation.WRITE, kind, new long[LatencyBuckets.COUNT]);
    }

    @Test
    void timesAreThoseOfThePostAndOfTheBatchThatWasFetched() {
        long base = System.nanoTime();
        // its callback takes its time
        FlowTransfer first =
                stepped.write(TransferOptions.defaults(), (transfer, error) -> stepped.loop.time(base + 100 * SECOND));
        FlowTransfer second = stepped.write(TransferOptions.defaults(), (transfer, error) -> {});
        SteppedFlow.start(first);
        SteppedFlow.start(second);
        stepped.loop.time(base + 4 * SECOND);
        while (stepped.loop.runNext()) {
            assertThat(stepped.flow.pending()).isPositive();
        }
        assertThat(counters.get(FlowCounter.CHUNKS)).isEqualTo(2);
        stepped.loop.time(base + 4 * SECOND + 7_000_000);
        stepped.loop.beginBatch();
        assertThat(stepped.completeNext()).isTrue();
        assertThat(stepped.completeNext()).isTrue();

        assertThat(sum(LatencyKind.COMPLETION)).as("7 ms each").isEqualTo(14_000_000);
        assertThat(buckets(LatencyKind.COMPLETION)[LatencyBuckets.indexOf(7_000_000)])
                .isEqualTo(2);
        assertThat(buckets(LatencyKind.CREDIT_WAIT)[LatencyBuckets.indexOf(4 * SECOND)])
                .isEqualTo(2);
        assertThat(buckets(LatencyKind.DURATION)[LatencyBuckets.indexOf(4 * SECOND)])
                .isEqualTo(2);
        assertThat(sum(LatencyKind.DURATION))
                .isEqualTo(sum(LatencyKind.CREDIT_WAIT) + sum(LatencyKind.COMPLETION))
                .isEqualTo(stepped.counters.peer().nanos());
        assertThat(counters.operations(Operation.WRITE, Outcome.SUCCESS)).isEqualTo(2);
        assertThat(counters.bytes(Operation.WRITE, Outcome.SUCCESS)).isEqualTo(2 * SteppedFlow.TRANSFER_BYTES);
        assertThat(counters.get(FlowCounter.COMPLETIONS)).isEqualTo(2);
        assertThat(stepped.counters.peer().operations()).isEqualTo(2);
    }

    @Test
    void whatTheEndCutsOffCountsOnceAndByItsKind() {
        SteppedFlow.start(stepped.write(TransferOptions.defaults(), (transfer, error) -> {}));
        while (stepped.loop.runNext()) {
            assertThat(stepped.endpoint.hasPosted()).isTrue();
        }
        SteppedFlow.start(stepped.write(TransferOptions.defaults(), (transfer, error) -> {}));
        stepped.end();
        stepped.settle();
        assertThat(counters.operations(Operation.WRITE, Outcome.ERROR)).isEqualTo(2);
        assertThat(counters.bytes(Operation.WRITE, Outcome.ERROR)).isEqualTo(2 * SteppedFlow.TRANSFER_BYTES);
        assertThat(counters.errors(ErrorKind.OUTCOME_UNKNOWN)).isEqualTo(1);
        assertThat(counters.errors(ErrorKind.CONNECTION_CLOSED)).isEqualTo(1);
        assertThat(counters.operations(Operation.WRITE, Outcome.SUCCESS)).isZero();
        assertThat(stepped.counters.peer().errors()).isEqualTo(2);
        assertThat(counters.get(FlowCounter.CHUNKS)).isEqualTo(counters.get(FlowCounter.COMPLETIONS));
    }
}
