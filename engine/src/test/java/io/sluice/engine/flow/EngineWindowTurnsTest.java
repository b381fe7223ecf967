package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.PatientOptions;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.Capabilities;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who waits for the engine's credits gets them before those who come later, even if these want so little that it is there. */
class EngineWindowTurnsTest {
    private static final EngineOptions OPTIONS = PatientOptions.builder().build();

    // never started: nobody has to be woken for the order to be told
    private final Poller poller = new Poller("turns-test", 0, OPTIONS, failing -> {});
    private final EngineWindow window = new EngineWindow(10, 1000);
    private final ConnectionFlow large = flow();
    private final ConnectionFlow small = flow();

    @AfterEach
    void discard() {
        poller.discard();
    }

    /** Its connection and endpoint are not asked for anything here. */
    private ConnectionFlow flow() {
        return new ConnectionFlow(
                null,
                poller,
                ConnectionCounters.alone(),
                OPTIONS,
                window,
                new Capabilities(true, Capabilities.CompletionLevel.VISIBLE, 1 << 20, true),
                0,
                null,
                null,
                1);
    }

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
