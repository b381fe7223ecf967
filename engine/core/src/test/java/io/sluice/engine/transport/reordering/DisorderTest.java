package io.sluice.engine.transport.reordering;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DisorderTest {
    private static final int PACKETS = 4000;

    private static long[] decisions(long seed) {
        Disorder disorder = new Disorder(seed);
        return LongStream.range(0, PACKETS)
                .flatMap(sequence -> LongStream.of(
                        disorder.copies(sequence),
                        disorder.delayNanos(sequence, 0),
                        disorder.delayNanos(sequence, 1),
                        disorder.place(sequence, 0)))
                .toArray();
    }

    @Test
    void sameSeedDecidesTheSameAndAnotherSeedDoesNot() {
        assertThat(decisions(7)).isEqualTo(decisions(7));
        assertThat(decisions(7)).isNotEqualTo(decisions(8));
    }

    @Test
    void decisionDoesNotDependOnThoseBefore() {
        Disorder asked = new Disorder(7);
        long late = asked.delayNanos(3000, 0);
        decisions(7);
        assertThat(new Disorder(7).delayNanos(3000, 0)).isEqualTo(late);
        assertThat(asked.delayNanos(3000, 0)).isEqualTo(late);
    }

    @Test
    void everyFateHappensAndNoneAlways() {
        for (long seed = 0; seed < 20; seed++) {
            Disorder disorder = new Disorder(seed);
            assertThat(IntStream.range(0, PACKETS).map(disorder::copies).distinct())
                    .containsExactlyInAnyOrder(1, 2, Disorder.MOST_COPIES);
            long[] delays = LongStream.range(0, PACKETS)
                    .map(sequence -> disorder.delayNanos(sequence, 0))
                    .toArray();
            assertThat(LongStream.of(delays)).allMatch(delay -> delay >= 0 && delay <= Disorder.LONGEST_DELAY_NANOS);
            assertThat(LongStream.of(delays).filter(delay -> delay == 0).count())
                    .as("packets that are not held")
                    .isBetween(PACKETS / 2L, PACKETS * 9L / 10);
            assertThat(LongStream.of(delays).filter(delay -> delay > 100_000).count())
                    .as("packets that straggle")
                    .isBetween(PACKETS / 40L, PACKETS / 10L);
        }
    }

    @Test
    void laneThatCarriesVeryMuchStragglesLessOftenButStillDoes() {
        Disorder disorder = new Disorder(3);
        long stragglers = LongStream.range(1_000_000, 1_100_000)
                .filter(sequence -> disorder.delayNanos(sequence, 0) > 100_000)
                .count();
        assertThat(stragglers).isBetween(20L, 500L);
    }

    @Test
    void partsOfASeedDiffer() {
        assertThat(LongStream.range(0, 1000)
                        .map(part -> Disorder.derive(1, part))
                        .distinct())
                .hasSize(1000);
    }
}
