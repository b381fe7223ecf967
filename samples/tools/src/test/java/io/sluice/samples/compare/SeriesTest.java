package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class SeriesTest {

    @Test
    void theMedianIsTheMiddleOne() {
        assertThat(Series.median(List.of(5.0, 1.0, 9.0))).isEqualTo(5);
        assertThat(Series.median(List.of(7.0))).isEqualTo(7);
    }

    @Test
    void theMedianOfAnEvenNumberIsBetweenTheMiddleTwo() {
        assertThat(Series.median(List.of(4.0, 100.0, 1.0, 2.0))).isEqualTo(3);
    }

    @Test
    void roundsWithoutFiguresDoNotCount() {
        assertThat(Series.median(Arrays.asList(null, 3.0, null))).isEqualTo(3);
        assertThat(Series.median(Arrays.asList(null, null))).isNull();
        assertThat(Series.median(List.of())).isNull();
    }

    @Test
    void aFailureLeavesAGapAndTheFirstOneIsTold() {
        Series series = new Series();
        series.add(Figures.ofBandwidth(1));
        series.addFailure("first");
        assertThat(series.isGivenUp()).isFalse();
        series.addFailure("second");
        assertThat(series.isGivenUp()).isTrue();
        assertThat(series.problem()).isEqualTo("first");
        assertThat(series.values(Quantity.GIGABYTES_PER_SECOND)).containsExactly(1.0, null, null);
        assertThat(series.values(Quantity.MEDIAN_MICROSECONDS)).containsExactly(null, null, null);
    }
}
