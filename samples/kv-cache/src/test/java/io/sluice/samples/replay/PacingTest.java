package io.sluice.samples.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.kvcache.BlockHashes;
import io.sluice.samples.trace.TraceRequest;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

class PacingTest {

    private static final Duration BOUND = Patience.BOUND;

    @Test
    void requestsComeWhenTheyAreDueCountedFromTheFirst() {
        // 800 ms of the trace at four times the speed.
        long nanos = nanosToEmit(Pacing.scaled(4), 5000, 5400, 5800);
        assertThat(nanos).isGreaterThan(180_000_000L);
    }

    @Test
    void withoutALimitTimestampsDoNotMatter() {
        // A day of the trace, which takes no time.
        nanosToEmit(Pacing.unlimited(), 0, 86_400_000);
    }

    @Test
    void whoeverIsLateIsSentAtOnce() {
        List<Long> order = Pacing.scaled(1000)
                .apply(requests(0, 1, 1, 2, 2000).doOnNext(request -> pause()))
                .map(TraceRequest::timestampMillis)
                .collectList()
                .block(BOUND);
        assertThat(order).containsExactly(0L, 1L, 1L, 2L, 2000L);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
    void aSpeedIsAPositiveNumber(double speed) {
        assertThatThrownBy(() -> Pacing.scaled(speed)).isInstanceOf(IllegalArgumentException.class);
    }

    private static long nanosToEmit(Pacing pacing, long... timestamps) {
        long start = System.nanoTime();
        assertThat(pacing.apply(requests(timestamps)).count().block(BOUND)).isEqualTo(timestamps.length);
        return System.nanoTime() - start;
    }

    private static Flux<TraceRequest> requests(long... timestamps) {
        return Flux.fromStream(
                LongStream.of(timestamps).mapToObj(timestamp -> new TraceRequest(timestamp, 16, 1, BlockHashes.of(1))));
    }

    private static void pause() {
        try {
            Thread.sleep(5);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
