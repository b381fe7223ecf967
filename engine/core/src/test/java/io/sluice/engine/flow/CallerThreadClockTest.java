package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.testkit.Patience;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CallerThreadClockTest {
    private final CallerThreadClock clock = new CallerThreadClock();
    private final CallerThreadCounters counters = new CallerThreadCounters();
    private boolean timed;

    private long carryOut(CallerThreadCounters into, Operation operation, long bytes) {
        clock.begins(into, operation, bytes);
        long from = System.nanoTime();
        while (System.nanoTime() - from < 2_000) {
            Thread.onSpinWait();
        }
        long measured = clock.ends(bytes);
        clock.count(into, operation, 1, bytes, measured);
        timed = measured >= 0;
        return timed ? measured : ~measured;
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
    void eachPeerAndDirectionHasItsOwn() {
        CallerThreadCounters others = new CallerThreadCounters();
        for (int i = 0; i < 2 * CallerThreadClock.SMALL_ONES; i++) {
            boolean first = i % CallerThreadClock.SMALL_ONES == 0;
            carryOut(counters, Operation.WRITE, 8);
            assertThat(timed).isEqualTo(first);
            carryOut(counters, Operation.READ, 8);
            assertThat(timed).isEqualTo(first);
            carryOut(others, Operation.WRITE, 8);
            assertThat(timed).isEqualTo(first);
        }
        assertThat(counters.operations(Operation.READ)).isEqualTo(2 * CallerThreadClock.SMALL_ONES);
    }

    @Test
    void whoNeedsThePlaceOfAnotherPaysWhatItOwes() {
        long first = carryOut(counters, Operation.WRITE, 8);
        carryOut(counters, Operation.WRITE, 8);
        for (int i = 0; i < 100; i++) {
            carryOut(new CallerThreadCounters(), Operation.WRITE, 8);
        }
        assertThat(counters.nanos(Operation.WRITE)).isEqualTo(2 * first);
    }

    @Test
    void aVirtualThreadOwesNothing() {
        AtomicLong sum = new AtomicLong();
        Thread thread = Thread.ofVirtual().start(() -> {
            CallerThreadClock own = new CallerThreadClock();
            for (int i = 0; i < 10; i++) {
                own.begins(counters, Operation.WRITE, 8);
                long measured = own.ends(8);
                own.count(counters, Operation.WRITE, 1, 8, measured);
                sum.addAndGet(measured < 0 ? ~measured : measured);
            }
        });
        Patience.join(thread);
        assertThat(counters.nanos(Operation.WRITE)).isEqualTo(sum.get());
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
