package io.sluice.samples.kvcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PagePoolTest {

    @Test
    void aFreshPoolHandsOutNeighbours() {
        PagePool pool = new PagePool(4);
        assertThat(List.of(pool.allocate(), pool.allocate(), pool.allocate(), pool.allocate()))
                .containsExactly(0, 1, 2, 3);
        assertThat(pool.freePages()).isZero();
        assertThatIllegalStateException().isThrownBy(pool::allocate);
    }

    @Test
    void refusesToFreeTwice() {
        PagePool pool = new PagePool(4);
        int page = pool.allocate();
        pool.free(page);
        assertThatIllegalStateException().isThrownBy(() -> pool.free(page));
        assertThatIllegalStateException().isThrownBy(() -> pool.free(3));
        assertThatThrownBy(() -> pool.free(4)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> pool.free(-1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(pool.freePages()).isEqualTo(4);
    }

    @Test
    void refusesToBeEmpty() {
        assertThatIllegalArgumentException().isThrownBy(() -> new PagePool(0));
    }

    @Test
    void noPageIsHandedOutTwiceAtOnce() {
        Random random = new Random(7);
        PagePool pool = new PagePool(50);
        Set<Integer> taken = new HashSet<>();
        for (int step = 0; step < 20_000; step++) {
            if (random.nextBoolean() && pool.freePages() > 0) {
                int page = pool.allocate();
                assertThat(page).isBetween(0, 49);
                assertThat(taken.add(page)).isTrue();
            } else if (!taken.isEmpty()) {
                int page = new ArrayList<>(taken).get(random.nextInt(taken.size()));
                taken.remove(page);
                pool.free(page);
            }
            assertThat(pool.freePages()).isEqualTo(50 - taken.size());
        }
    }
}
