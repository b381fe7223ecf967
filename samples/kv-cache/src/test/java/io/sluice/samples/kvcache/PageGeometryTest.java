package io.sluice.samples.kvcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PageGeometryTest {

    private static final ModelPreset SMALL = ModelPreset.named("qwen2.5-0.5b");

    @Test
    void aPageStartsAtItsSlotInItsLayersArray() {
        PageGeometry geometry = new PageGeometry(32, 65_536, 1000);
        assertThat(geometry.offset(0, 0)).isZero();
        assertThat(geometry.offset(0, 7)).isEqualTo(7 * 65_536L);
        assertThat(geometry.offset(3, 7)).isEqualTo((3 * 1000L + 7) * 65_536L);
        assertThat(geometry.offset(31, 999) + 65_536).isEqualTo(geometry.poolBytes());
    }

    @Test
    void offsetsAreDistinctAndFillThePool() {
        PageGeometry geometry = new PageGeometry(3, 10, 5);
        Set<Long> offsets = new HashSet<>();
        for (int layer = 0; layer < 3; layer++) {
            for (int page = 0; page < 5; page++) {
                offsets.add(geometry.offset(layer, page));
            }
        }
        assertThat(offsets).hasSize(15).allMatch(offset -> offset % 10 == 0 && offset >= 0 && offset < 150);
    }

    @Test
    void offsetsGoBeyondThirtyTwoBits() {
        PageGeometry geometry = new PageGeometry(80, 65_536, 1 << 20);
        assertThat(geometry.offset(79, (1 << 20) - 1)).isEqualTo(80L * (1 << 20) * 65_536 - 65_536);
    }

    @Test
    void refusesWhatIsOutside() {
        PageGeometry geometry = new PageGeometry(2, 16, 4);
        assertThatThrownBy(() -> geometry.offset(2, 0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> geometry.offset(-1, 0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> geometry.offset(0, 4)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> geometry.offset(0, -1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void refusesSizesThatOverflow() {
        int max = Integer.MAX_VALUE;
        assertThatIllegalArgumentException().isThrownBy(() -> new PageGeometry(max, max, max));
        assertThatIllegalArgumentException().isThrownBy(() -> new PageGeometry(4, max, max));
        assertThat(new PageGeometry(2, max, max).poolBytes()).isPositive();
        assertThatIllegalArgumentException().isThrownBy(() -> new PageGeometry(0, 1, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new PageGeometry(1, 0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new PageGeometry(1, 1, 0));
    }

    @Test
    void fitsAsManyPagesAsThePoolHolds() {
        long slot = 24 * 8192L;
        assertThat(PageGeometry.fitting(SMALL, slot).slots()).isEqualTo(1);
        assertThat(PageGeometry.fitting(SMALL, 10 * slot - 1).slots()).isEqualTo(9);
        assertThat(PageGeometry.fitting(SMALL, 10 * slot)).isEqualTo(new PageGeometry(24, 8192, 10));
        assertThat(PageGeometry.fitting(SMALL, Long.MAX_VALUE).slots()).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void aPoolBelowOnePageSaysHowMuchIsNeeded() {
        PoolTooSmallException e =
                catchThrowableOfType(PoolTooSmallException.class, () -> PageGeometry.fitting(SMALL, 24 * 8192L - 1));
        assertThat(e).hasMessageContaining(" needs " + 24 * 8192 + " bytes");
        assertThat(e).hasMessageContaining(" holds " + (24 * 8192 - 1) + ":");
        assertThat(e).hasMessageContaining("--pool 1MiB");
    }
}
