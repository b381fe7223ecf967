package io.sluice.engine.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdleStrategyTest {
    private static final long SPIN = 1000;
    private static final long YIELD = 500;
    private static final long PARK = YIELD + SPIN;

    @ParameterizedTest
    @ValueSource(longs = {0, 12345, -1, -200, Long.MAX_VALUE - 100, Long.MAX_VALUE, Long.MIN_VALUE})
    void parksAfterSpinningAndYielding(long start) {
        IdleStrategy strategy = new IdleStrategy(SPIN, YIELD);
        assertThat(strategy.idle(start)).isFalse();
        assertThat(strategy.idle(start + YIELD - 1)).isFalse();
        assertThat(strategy.idle(start + PARK - 1)).isFalse();
        assertThat(strategy.idle(start + PARK)).isTrue();
        assertThat(strategy.idle(start + 100 * PARK)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 100})
    void workRestartsIt(long start) {
        IdleStrategy strategy = new IdleStrategy(SPIN, YIELD);
        strategy.idle(start);
        assertThat(strategy.idle(start + PARK)).isTrue();
        strategy.worked();
        assertThat(strategy.idle(start + 2 * PARK)).isFalse();
        assertThat(strategy.idle(start + 3 * PARK - 1)).isFalse();
        assertThat(strategy.idle(start + 3 * PARK)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void withoutPatienceItParksAtOnce(long start) {
        assertThat(new IdleStrategy(0, 0).idle(start)).isTrue();
        assertThat(new IdleStrategy(0, 0).parksAtOnce()).isTrue();
        assertThat(new IdleStrategy(1, 0).parksAtOnce()).isFalse();
        assertThat(new IdleStrategy(0, 1).parksAtOnce()).isFalse();
    }

    /** On a single processor it yields now and then, and parks after the same time. */
    @Test
    void patienceDoesNotDependOnTheNumberOfProcessors() {
        for (int processors : new int[] {1, 2}) {
            IdleStrategy strategy = new IdleStrategy(SPIN, YIELD, processors, () -> {});
            for (long now = 0; now < PARK; now++) {
                assertThat(strategy.idle(now)).isFalse();
            }
            assertThat(strategy.idle(PARK)).isTrue();
        }
    }

    @Test
    void onTheOnlyProcessorItYieldsAtOnceAfterAHandOver() {
        AtomicInteger yields = new AtomicInteger();
        IdleStrategy strategy = new IdleStrategy(SPIN, YIELD, 1, yields::incrementAndGet);
        strategy.handedOver();
        strategy.worked();
        strategy.idle(0);
        assertThat(yields).hasValue(1);
        strategy.idle(1);
        assertThat(yields).as("once for what was handed over").hasValue(1);
        for (long now = 2; now < 33; now++) {
            strategy.idle(now);
        }
        assertThat(yields).as("and now and then as ever").hasValue(2);
    }

    @Test
    void whereThereAreOtherProcessorsItSpinsOn() {
        AtomicInteger yields = new AtomicInteger();
        IdleStrategy strategy = new IdleStrategy(SPIN, YIELD, 2, yields::incrementAndGet);
        strategy.handedOver();
        strategy.worked();
        for (long now = 0; now < SPIN; now++) {
            strategy.idle(now);
        }
        assertThat(yields).hasValue(0);
        strategy.idle(SPIN);
        assertThat(yields).hasValue(1);
    }
}
