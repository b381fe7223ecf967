package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import io.sluice.testkit.SteadyRounds;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** If the only rail fails for good, every transfer ends with a typed error; if it comes back in time, none fails. */
@Tag("verbs")
class SoleRailFailureTest {
    // what stays away is given up after this
    private static final Duration LIVENESS = Duration.ofSeconds(1);

    /** Both sides end; what was under way is reported as what it is. */
    private static void assertLost(VerbsPair pair, MixedLoad... loads) {
        for (MixedLoad load : loads) {
            List<SluiceException> errors = load.awaitEnd();
            assertThat(errors)
                    .isNotEmpty()
                    .allSatisfy(error -> assertThat(error)
                            .isInstanceOfAny(ConnectionLostException.class, OutcomeUnknownException.class));
            load.assertNothingWasDoneTwice();
        }
        Patience.failure(pair.connection().ended(), ConnectionLostException.class);
        Patience.failure(pair.accepted().ended(), ConnectionLostException.class);
        Patience.until(
                "all credits are back",
                () -> pair.initiator().metrics().window().operations() == 0
                        && pair.target().metrics().window().operations() == 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void everyTransferEndsWhenTheLinkStaysDown(int failing) {
        SteadyRounds.run(LIVENESS, liveness -> {
            try (VerbsPair pair = VerbsPair.open(both -> both.lanes(2).livenessTimeout(liveness));
                    DeviceLink link = new DeviceLink(TestDevices.get(failing))) {
                MixedLoad load = MixedLoad.of(pair).start();
                MixedLoad back = MixedLoad.back(pair).start();
                load.awaitProgress(200);
                link.down();
                assertLost(pair, load, back);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void noTransferFailsWhenTheLinkComesBackSoon(int failing) {
        try (VerbsPair pair = VerbsPair.open(both -> both.lanes(2).livenessTimeout(Patience.longBound()));
                DeviceLink link = new DeviceLink(TestDevices.get(failing))) {
            MixedLoad load = MixedLoad.of(pair).start();
            MixedLoad back = MixedLoad.back(pair).start();
            for (int round = 0; round < 3; round++) {
                load.awaitProgress(100);
                link.down();
                Patience.pause(Duration.ofMillis(100 + 900 * (round % 2)));
                link.up();
            }
            load.awaitProgress(100);
            back.awaitProgress(100);
            load.stopAndCheck();
            back.stopAndCheck();
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
        }
    }
}
