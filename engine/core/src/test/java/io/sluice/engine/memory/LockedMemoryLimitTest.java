package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LockedMemoryLimitTest {
    private static final String HEAD = "Limit                     Soft Limit           Hard Limit           Units     ";

    @Test
    void softLimitIsRead() {
        assertThat(LockedMemoryLimit.of(List.of(
                        HEAD,
                        "Max processes             30000                40000                processes ",
                        "Max locked memory         8388608              16777216             bytes     ",
                        "Max address space         unlimited            unlimited            bytes     ")))
                .isEqualTo(8_388_608);
    }

    @Test
    void withoutALimitItIsTheLargestNumber() {
        assertThat(LockedMemoryLimit.of(List.of(
                        HEAD, "Max locked memory         unlimited            unlimited            bytes     ")))
                .isEqualTo(Long.MAX_VALUE);
        assertThat(LockedMemoryLimit.of(List.of(HEAD))).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void limitOfThisProcessIsPositive() {
        assertThat(LockedMemoryLimit.bytes()).isPositive();
    }
}
