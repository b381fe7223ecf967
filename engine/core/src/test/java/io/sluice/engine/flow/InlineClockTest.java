package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.testkit.Patience;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class InlineClockTest {
    private final InlineClock clock = new InlineClock();
    private final InlineCounters counters = new InlineCounters();
    private boolean timed;

    private long execute(InlineCounters into, Operation operation, long bytes) {
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

    private static long[] buckets(InlineCounters of, LatencyKind kind) {
        long[] counts = new long[LatencyBuckets.COUNT];
        of.addTo(Operation.WRITE, kind, counts);
        return counts;
    }

    @Test
    void smallOnesTakeAsLongAsTheLastThatWasTimed() {
        long first = execute(counters, Operation.WRITE, 8);
        assertThat(first).isGreaterThanOrEqualTo(2_000);
        assertThat(counters.nanos(Operation.WRITE))
                .as("a first one is in the sum at once")
                .isEqualTo(first);
        for (int i = 1; i < InlineClock.SMALL_ONES; i++) {
            assertThat(execute(counters, Operation.WRITE, 8)).isEqualTo(first);
        }
        long[] counts = buckets(counters, LatencyKind.DURATION);
        assertThat(counts[LatencyBuckets.indexOf(first)]).isEqualTo(InlineClock.SMALL_ONES);
        assertThat(counters.operations(Operation.WRITE)).isEqualTo(InlineClock.SMALL_ONES);
        long next = execute(counters, Operation.WRITE, 8);
        assertThat(counters.nanos(Operation.WRITE)).isEqualTo(first * InlineClock.SMALL_ONES + next);
    }

    @Test
    void largeOnesAreTimedEachAndSayNothingOfSmallOnes() {
        long small = execute(counters, Operation.WRITE, 8);
        long sum = small;
        for (int i = 0; i < 5; i++) {
            sum += execute(counters, Operation.WRITE, InlineClock.SMALL_BYTES + 1);
            assertThat(counters.nanos(Operation.WRITE)).isEqualTo(sum);
        }
        assertThat(execute(counters, Operation.WRITE, 8)).isEqualTo(small);
    }

    @Test
    void eachPeerAndDirectionHasItsOwn() {
        InlineCounters others = new InlineCounters();
        for (int i = 0; i < 2 * InlineClock.SMALL_ONES; i++) {
            boolean first = i % InlineClock.SMALL_ONES == 0;
            execute(counters, Operation.WRITE, 8);
            assertThat(timed).isEqualTo(first);
            execute(counters, Operation.READ, 8);
            assertThat(timed).isEqualTo(first);
            execute(others, Operation.WRITE, 8);
            assertThat(timed).isEqualTo(first);
        }
        assertThat(counters.operations(Operation.READ)).isEqualTo(2 * InlineClock.SMALL_ONES);
    }

    @Test
    void whoNeedsThePlaceOfAnotherPaysWhatItOwes() {
        long first = execute(counters, Operation.WRITE, 8);
        execute(counters, Operation.WRITE, 8);
        for (int i = 0; i < 100; i++) {
            execute(new InlineCounters(), Operation.WRITE, 8);
        }
        assertThat(counters.nanos(Operation.WRITE)).isEqualTo(2 * first);
    }

    @Test
    void aVirtualThreadOwesNothing() {
        AtomicLong sum = new AtomicLong();
        Thread thread = Thread.ofVirtual().start(() -> {
            InlineClock own = new InlineClock();
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
        execute(counters, Operation.WRITE, 8);
        execute(counters, Operation.WRITE, 1 << 20);
        assertThat(buckets(counters, LatencyKind.CREDIT_WAIT)[0]).isEqualTo(2);
        assertThat(buckets(counters, LatencyKind.COMPLETION)).isEqualTo(buckets(counters, LatencyKind.DURATION));
        assertThat(counters.addTo(Operation.NOTIFY, LatencyKind.DURATION, new long[LatencyBuckets.COUNT]))
                .isZero();
    }
}
