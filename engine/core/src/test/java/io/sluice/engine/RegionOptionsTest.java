package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RegionOptionsTest {
    @Test
    void rightsAreTheNamedOnes() {
        assertThat(RegionOptions.local().access()).isEmpty();
        assertThat(RegionOptions.readOnly().access()).containsExactly(Access.REMOTE_READ);
        assertThat(RegionOptions.readWrite().access()).containsExactlyInAnyOrder(Access.values());
        assertThat(RegionOptions.readOnly().name()).isNull();
    }

    @Test
    void rightsCannotBeChangedLater() {
        Set<Access> access = new HashSet<>(Set.of(Access.REMOTE_READ));
        RegionOptions options = new RegionOptions(access, null);
        access.add(Access.REMOTE_WRITE);
        assertThat(options.access()).containsExactly(Access.REMOTE_READ);
        assertThatThrownBy(() -> options.access().add(Access.REMOTE_WRITE))
                .isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void namesAreOneTo255Bytes() {
        RegionOptions options = RegionOptions.readOnly();
        assertThat(options.named("n").name()).isEqualTo("n");
        assertThat(options.named("n").access()).isEqualTo(options.access());
        assertThat(options.named("n".repeat(255)).name()).hasSize(255);
        assertThatThrownBy(() -> options.named("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> options.named("n".repeat(256))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> options.named("ü".repeat(128))).isInstanceOf(IllegalArgumentException.class);
    }
}
