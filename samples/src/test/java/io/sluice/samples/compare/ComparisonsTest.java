package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.bench.Api;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ComparisonsTest {

    @Test
    void eachHasANameOfItsOwn() {
        assertThat(Comparisons.all()).extracting(Comparison::name).doesNotHaveDuplicates();
    }

    @Test
    void theGoals() {
        assertThat(Comparisons.chosen(List.of("goals")))
                .extracting(comparison -> comparison.name() + " " + comparison.goal())
                .containsExactly(
                        "write-1MiB/iperf3 >= 0.80",
                        "write-4KiB/ucx >= 1.50",
                        "read-1MiB/ucx >= 1.20",
                        "read-8B/ping-pong <= 1.60");
    }

    @ParameterizedTest
    @CsvSource({"write-1MiB/iperf3, 1", "read-8B, 2", "ping-pong, 1", "memcpy, 2", "iperf3, 2"})
    void aNameOrOneOfItsHalvesChooses(String name, int count) {
        assertThat(Comparisons.chosen(List.of(name)))
                .hasSize(count)
                .allMatch(comparison -> comparison.name().contains(name));
    }

    @Test
    void severalNamesChooseTheUnionInOrder() {
        assertThat(Comparisons.chosen(List.of("read-8B/ceiling", "write-8B", "goals")))
                .extracting(Comparison::name)
                .containsSubsequence("write-1MiB/iperf3", "read-8B/ping-pong", "write-8B/ceiling", "read-8B/ceiling")
                .hasSize(6);
        assertThat(Comparisons.chosen(List.of())).isEqualTo(Comparisons.all());
    }

    @Test
    void anUnknownNameIsToldTheKnownOnes() {
        assertThatThrownBy(() -> Comparisons.chosen(List.of("ucx", "rdma")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'rdma'")
                .hasMessageContaining("write-4KiB/ucx");
    }

    @Test
    void comparisonsShareEqualMeasurements() {
        Comparison one = Comparisons.chosen(List.of("write-1MiB/iperf3")).getFirst();
        Comparison other = Comparisons.chosen(List.of("write-1MiB/ceiling")).getFirst();
        assertThat(one.ours(Api.ENGINE)).isEqualTo(other.ours(Api.ENGINE)).isNotEqualTo(one.ours(Api.REACTOR));
        assertThat(one.theirs())
                .isEqualTo(Comparisons.chosen(List.of("write-16MiB/iperf3"))
                        .getFirst()
                        .theirs());
    }

    @Test
    void goalsIncludeTheirBounds() {
        assertThat(Goal.atLeast(0.8).isMetBy(0.8)).isTrue();
        assertThat(Goal.atLeast(0.8).isMetBy(0.79)).isFalse();
        assertThat(Goal.atMost(1.6).isMetBy(1.6)).isTrue();
        assertThat(Goal.atMost(1.6).isMetBy(1.61)).isFalse();
    }
}
