package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class TransferOptionsTest {
    @Test
    void thereIsNoDeadlineUnlessOneIsGiven() {
        assertThat(TransferOptions.defaults().deadline()).isNull();
        TransferOptions options = TransferOptions.defaults().withDeadline(Duration.ofNanos(1));
        assertThat(options.deadline()).isEqualTo(Duration.ofNanos(1));
        assertThat(TransferOptions.defaults().deadline()).isNull();
    }

    @Test
    void deadlineIsPositiveAndNotForEver() {
        TransferOptions defaults = TransferOptions.defaults();
        assertThat(defaults.withDeadline(Duration.ofDays(365)).deadline()).isEqualTo(Duration.ofDays(365));
        assertThatThrownBy(() -> defaults.withDeadline(Duration.ofDays(365).plusNanos(1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> defaults.withDeadline(Duration.ofSeconds(Long.MAX_VALUE)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> defaults.withDeadline(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> defaults.withDeadline(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> defaults.withDeadline(null)).isInstanceOf(NullPointerException.class);
    }
}
