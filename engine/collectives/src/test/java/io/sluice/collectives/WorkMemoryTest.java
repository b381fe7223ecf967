package io.sluice.collectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkMemoryTest {
    private static final long FREE = 24L << 20;
    private static final long HALF = 8L << 20;

    @Test
    void moreThanHalfOfTheFreeMemoryIsRefused() {
        try (TransferEngine engine = TransferEngine.open()) {
            WorkMemory work = new WorkMemory(engine, HALF, () -> FREE);
            MemoryRegion taken = work.take(HALF);
            assertThatThrownBy(() -> work.take(HALF + 1))
                    .isInstanceOf(RegistrationException.class)
                    .hasMessageContaining(Long.toString(2 * HALF))
                    .hasMessageContaining(Long.toString(FREE));
            work.give(taken);
            assertThat(engine.regions()).hasSize(1);
            Patience.await(work.close());
            assertThat(engine.regions()).isEmpty();
        }
    }

    @Test
    void littleIsTakenWithoutAQuestion() {
        try (TransferEngine engine = TransferEngine.open()) {
            WorkMemory work = new WorkMemory(engine, HALF, () -> {
                throw new AssertionError("it needs no answer");
            });
            List<MemoryRegion> taken = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                taken.add(work.take(1 << i));
            }
            taken.forEach(work::give);
            Patience.await(work.close());
        }
    }
}
