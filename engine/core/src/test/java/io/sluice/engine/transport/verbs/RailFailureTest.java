package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.ConnectionState;
import io.sluice.testkit.Extent;
import io.sluice.testkit.Patience;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * With two rails between two engines, one may fail: the other takes over its unfinished work, and nothing is done
 * twice.
 */
@Tag("verbs")
@Tag("softroce-links")
class RailFailureTest {
    /** An emulated machine may stand still for long when softRoCE has no link; that alone must not end a connection. */
    private static final Duration LIVENESS = Patience.longBound();

    private static final int MORE = TestDevices.rounds(Extent.of(150, 500));

    private static VerbsPair open(int lanes) {
        return VerbsPair.openRails(both -> both.lanes(lanes).livenessTimeout(LIVENESS));
    }

    private static void awaitRevival(CapturedLog log, int after) {
        Patience.until(
                "the rail works again",
                () -> log.lines().stream().skip(after).anyMatch(line -> line.contains("works again")));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void loadGoesOnOverTheOtherRailAndOverBothLater(int failing) {
        int other = failing ^ 2;
        try (CapturedLog log = CapturedLog.everything();
                VerbsPair pair = open(4);
                DeviceLink link = new DeviceLink(TestDevices.get(failing));
                DeviceLink otherLink = new DeviceLink(TestDevices.get(other))) {
            MixedLoad load = MixedLoad.of(pair).start();
            MixedLoad back = MixedLoad.back(pair).start();
            load.awaitProgress(MORE);
            link.down();
            Patience.until(
                    "a lane is out of use",
                    () -> log.lines().stream().anyMatch(line -> line.contains("is out of use")));
            load.awaitProgress(MORE);
            back.awaitProgress(MORE);
            int seen = log.lines().size();
            link.up();
            awaitRevival(log, seen);
            load.awaitProgress(MORE);
            back.awaitProgress(MORE);
            // the rail that came back now carries everything
            otherLink.down();
            load.awaitProgress(MORE);
            back.awaitProgress(MORE);
            otherLink.up();
            load.stopAndCheck();
            back.stopAndCheck();
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
            log.assertNoErrors();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void linkThatComesAndGoesIsSurvived(int failing) {
        try (VerbsPair pair = open(2);
                DeviceLink link = new DeviceLink(TestDevices.get(failing))) {
            MixedLoad load = MixedLoad.of(pair).start();
            MixedLoad back = MixedLoad.back(pair).start();
            for (int round = 0; round < TestDevices.rounds(20); round++) {
                link.down();
                load.awaitProgress(round * 5);
                link.up();
                back.awaitProgress(round * 5);
            }
            load.awaitProgress(MORE);
            back.awaitProgress(MORE);
            load.stopAndCheck();
            back.stopAndCheck();
        }
    }
}
