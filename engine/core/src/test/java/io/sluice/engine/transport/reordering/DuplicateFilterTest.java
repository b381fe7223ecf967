package io.sluice.engine.transport.reordering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class DuplicateFilterTest {
    private final DuplicateFilter filter = new DuplicateFilter();

    @Test
    void tellsTheFirstFromTheOthersInAnyOrder() {
        assertThat(filter.isFirst(2)).isTrue();
        assertThat(filter.isFirst(2)).isFalse();
        assertThat(filter.firstMissing()).isZero();
        assertThat(filter.isFirst(0)).isTrue();
        assertThat(filter.firstMissing()).isEqualTo(1);
        assertThat(filter.isFirst(1)).isTrue();
        assertThat(filter.firstMissing()).isEqualTo(3);
        assertThat(filter.isFirst(0)).isFalse();
        assertThat(filter.isFirst(1)).isFalse();
        assertThat(filter.isFirst(2)).isFalse();
    }

    @Test
    void goesOnForEverInTheSameMemory() {
        for (long sequence = 0; sequence < 5L * DuplicateFilter.SPAN; sequence += 2) {
            assertThat(filter.isFirst(sequence + 1)).isTrue();
            assertThat(filter.isFirst(sequence)).isTrue();
            assertThat(filter.isFirst(sequence + 1)).isFalse();
        }
        assertThat(filter.firstMissing()).isEqualTo(5L * DuplicateFilter.SPAN);
    }

    @Test
    void holdsAsManyAsItsSpanAndNoMore() {
        for (long sequence = DuplicateFilter.SPAN - 1; sequence > 0; sequence--) {
            assertThat(filter.isFirst(sequence)).isTrue();
        }
        assertThatThrownBy(() -> filter.isFirst(DuplicateFilter.SPAN)).isInstanceOf(IllegalArgumentException.class);
        assertThat(filter.isFirst(0)).isTrue();
        assertThat(filter.firstMissing()).isEqualTo(DuplicateFilter.SPAN);
        assertThat(filter.isFirst(DuplicateFilter.SPAN)).isTrue();
    }
}
