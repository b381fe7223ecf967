package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionState;
import io.sluice.testkit.Patience;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A link that loses packets: the driver repeats them, and where it gives up, lanes heal. Nothing is lost, or done twice. */
@Tag("softroce")
@Tag("softroce-netem")
class LossyLinkTest {
    private static final String DELAY = "1ms";
    private static final String LOSS = "1%";
    private static final int PROGRESS = 200;
    /** The driver waits, and again, before it repeats; an emulated machine is slow besides. */
    private static final Duration LIVENESS = Patience.longBound();

    @Test
    void everythingArrivesOnceInBothDirections() {
        try (VerbsPair pair = VerbsPair.open(both -> both.lanes(2).livenessTimeout(LIVENESS));
                LossyLink forth = LossyLink.of(TestDevices.get(0), DELAY, LOSS);
                LossyLink back = LossyLink.of(TestDevices.get(1), DELAY, LOSS)) {
            MixedLoad load = MixedLoad.of(pair).start();
            MixedLoad other = MixedLoad.back(pair).start();
            load.awaitProgress(PROGRESS);
            other.awaitProgress(PROGRESS);
            // by chance, and so perhaps none of the first ones
            Patience.until("packets are lost on either way", () -> forth.lost() > 0 && back.lost() > 0);
            load.stopAndCheck();
            other.stopAndCheck();
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
        }
    }
}
