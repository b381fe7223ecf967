package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineMetrics.Operation;
import org.junit.jupiter.api.Test;

class CallerThreadClockTest {
    private final CallerThreadClock clock = new CallerThreadClock();
    private final CallerThreadCounters counters = new CallerThreadCounters();

    private long carryOut(CallerThreadCounters into, Operation operation, long bytes) {
        clock.begins(bytes);
        long from = System.nanoTime();
        while (System.nanoTime() - from < 2_000) {
            Thread.onSpinWait();
        }
        long nanos = clock.ends(bytes);
        clock.count(into, operation, 1, bytes, nanos);
        return nanos;
    }

    private static long[] buckets(CallerThreadCounters of, LatencyKind kind) {
        long[] counts = new long[LatencyBuckets.COUNT];
        of.addTo(Operation.WRITE, kind, counts);
        return counts;
    }

    @Test
    void smallOnesTakeAsLongAsTheLastThatWasTimed() {
        long first = carryOut(counters, Operation.WRITE, 8);
        assertThat(first).isGreaterThanOrEqualTo(2_000);
        assertThat(counters.nanos(Operation.WRITE))
                .as("a first one is in the sum at once")
                .isEqualTo(first);
        for (int i = 1; i < CallerThreadClock.SMALL_ONES; i++) {
            assertThat(carryOut(counters, Operation.WRITE, 8)).isEqualTo(first);
        }
        long[] counts = buckets(counters, LatencyKind.DURATION);
        assertThat(counts[LatencyBuckets.indexOf(first)]).isEqualTo(CallerThreadClock.SMALL_ONES);
        assertThat(counters.operations(Operation.WRITE)).isEqualTo(CallerThreadClock.SMALL_ONES);
        long next = carryOut(counters, Operation.WRITE, 8);
        assertThat(counters.nanos(Operation.WRITE)).isEqualTo(first * CallerThreadClock.SMALL_ONES + next);
    }

    @Test
    void largeOnesAreTimedEachAndSayNothingOfSmallOnes() {
        long small = carryOut(counters, Operation.WRITE, 8);
        long sum = small;
        for (int i = 0; i < 5; i++) {
            sum += carryOut(counters, Operation.WRITE, CallerThreadClock.SMALL_BYTES + 1);
            assertThat(counters.nanos(Operation.WRITE)).isEqualTo(sum);
        }
        assertThat(carryOut(counters, Operation.WRITE, 8)).isEqualTo(small);
    }

    @Test
    void nothingIsOwedToOthersForLong() {
        CallerThreadCounters others = new CallerThreadCounters();
        long first = carryOut(counters, Operation.WRITE, 8);
        carryOut(counters, Operation.WRITE, 8);
        carryOut(others, Operation.WRITE, 8);
        assertThat(counters.nanos(Operation.WRITE)).isEqualTo(2 * first);
        carryOut(others, Operation.READ, 8);
        assertThat(others.nanos(Operation.WRITE)).isEqualTo(first);
    }

    @Test
    void whoCarriesItOutWaitsForNothing() {
        carryOut(counters, Operation.WRITE, 8);
        carryOut(counters, Operation.WRITE, 1 << 20);
        assertThat(buckets(counters, LatencyKind.CREDIT_WAIT)[0]).isEqualTo(2);
        assertThat(buckets(counters, LatencyKind.COMPLETION)).isEqualTo(buckets(counters, LatencyKind.DURATION));
        assertThat(counters.addTo(Operation.NOTIFY, LatencyKind.DURATION, new long[LatencyBuckets.COUNT]))
                .isZero();
    }
}
