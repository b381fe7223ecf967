package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AccessTest {
    @Test
    void bitsAreDistinctAndFitAByte() {
        int union = 0;
        for (Access right : Access.values()) {
            assertThat(Integer.bitCount(right.bit())).isEqualTo(1);
            assertThat(right.bit()).isBetween(1, 128);
            assertThat(union & right.bit()).isZero();
            union |= right.bit();
        }
    }

    @Test
    void everySetSurvives() {
        for (Set<Access> rights : List.<Set<Access>>of(
                EnumSet.noneOf(Access.class),
                EnumSet.of(Access.REMOTE_READ),
                EnumSet.of(Access.REMOTE_WRITE),
                EnumSet.allOf(Access.class))) {
            assertThat(Access.fromBits(Access.toBits(rights))).isEqualTo(rights);
        }
    }

    @Test
    void bitsOfOtherVersionsAreRefused() {
        int known = Access.toBits(EnumSet.allOf(Access.class));
        for (int bits = 0; bits < 256; bits++) {
            int value = bits;
            if ((value & ~known) != 0) {
                assertThatThrownBy(() -> Access.fromBits(value)).isInstanceOf(InvalidDescriptorException.class);
            } else {
                assertThat(Access.toBits(Access.fromBits(value))).isEqualTo(value);
            }
        }
    }

    @Test
    void rightsCannotBeAddedLater() {
        Set<Access> rights = Access.fromBits(Access.REMOTE_READ.bit());
        assertThatThrownBy(() -> rights.add(Access.REMOTE_WRITE)).isInstanceOf(UnsupportedOperationException.class);
    }
}
