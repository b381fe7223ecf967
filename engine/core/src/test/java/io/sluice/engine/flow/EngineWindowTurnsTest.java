package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Who waits for the engine's credits gets them before those who come later, even if these want so little that it is there. */
class EngineWindowTurnsTest {
    private final EngineWindow window = new EngineWindow(10, 1000);
    // none has to be woken for the order to be told
    private final CreditWaiter large = () -> {};
    private final CreditWaiter small = () -> {};

    @Test
    void littleIsNotGivenPastOneThatWaitsForMuch() {
        assertThat(window.tryAcquireBytes(small, 900)).isTrue();
        assertThat(window.tryAcquireBytes(large, 500)).isFalse();
        window.awaitBytes(large);
        assertThat(window.tryAcquireBytes(small, 50)).isFalse();

        window.releaseBytes(300);
        assertThat(window.tryAcquireBytes(small, 50)).isFalse();
        assertThat(window.tryAcquireBytes(large, 500)).isFalse();

        window.releaseBytes(300);
        assertThat(window.tryAcquireBytes(large, 500)).isTrue();
        window.leaveBytes(large);
        assertThat(window.tryAcquireBytes(small, 50)).isTrue();
        assertThat(window.bytes()).isEqualTo(850);
    }

    @Test
    void oneThatLeavesLetsTheNextGo() {
        window.awaitOperation(large);
        window.awaitOperation(small);
        assertThat(window.tryAcquireOperation(small)).isFalse();
        window.leaveOperations(large);
        assertThat(window.tryAcquireOperation(small)).isTrue();
        assertThat(window.tryAcquireOperation(large)).isFalse();
        window.leaveOperations(small);
        assertThat(window.tryAcquireOperation(large)).isTrue();
    }
}
