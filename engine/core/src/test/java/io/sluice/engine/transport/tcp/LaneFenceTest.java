package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class LaneFenceTest {
    private static final LaneFence.Refusal CLOSED = new LaneFence.Refusal(12, CompletionStatus.UNKNOWN_REGION);
    private static final LaneFence.Refusal FORBIDDEN = new LaneFence.Refusal(15, CompletionStatus.ACCESS_DENIED);

    private static LaneFence sent(LaneFence fence) {
        return LaneFence.read(ByteBuffer.wrap(fence.toBytes()));
    }

    private static LaneFence fence() {
        return new LaneFence(3, 20, 10, new ArrayDeque<>(List.of(CLOSED, FORBIDDEN)));
    }

    @Test
    void aRefusalStaysOneWhenItsFrameIsLost() {
        LaneFence fence = sent(fence());
        assertThat(fence.lane()).isEqualTo(3);
        assertThat(fence.handled()).isEqualTo(20);
        for (long count = 11; count <= 20; count++) {
            CompletionStatus expected = count == CLOSED.count()
                    ? CLOSED.status()
                    : count == FORBIDDEN.count() ? FORBIDDEN.status() : CompletionStatus.SUCCESS;
            assertThat(fence.statusOf(count)).as("request %d", count).isEqualTo(expected);
        }
    }

    @Test
    void requestsThatAreNotAskedAboutArePassedOver() {
        LaneFence fence = sent(fence());
        assertThat(fence.statusOf(13)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(fence.statusOf(15)).isEqualTo(CompletionStatus.ACCESS_DENIED);
    }

    @Test
    void beforeTheListNothingIsKnown() {
        LaneFence fence = sent(fence());
        assertThat(fence.statusOf(10)).isEqualTo(CompletionStatus.OUTCOME_UNKNOWN);
        assertThat(fence.statusOf(11)).isEqualTo(CompletionStatus.SUCCESS);
    }

    @Test
    void damagedFencesAreRefused() {
        byte[] whole = fence().toBytes();
        for (int length = 0; length < whole.length; length++) {
            ByteBuffer cut = ByteBuffer.wrap(Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> LaneFence.read(cut)).isInstanceOf(ProtocolException.class);
        }
        LaneFence disordered = new LaneFence(3, 20, 10, new ArrayDeque<>(List.of(FORBIDDEN, CLOSED)));
        assertThatThrownBy(() -> sent(disordered)).isInstanceOf(ProtocolException.class);
        LaneFence beyond = new LaneFence(3, 14, 10, new ArrayDeque<>(List.of(CLOSED, FORBIDDEN)));
        assertThatThrownBy(() -> sent(beyond)).isInstanceOf(ProtocolException.class);
    }
}
