package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.testkit.Patience;
import io.sluice.testkit.SteadyRounds;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A device that is pulled out under load. */
@Tag("verbs")
class RemovedDeviceTest {
    // what is gone is given up after this
    private static final Duration LIVENESS = Duration.ofSeconds(1);

    private final SoftAdapter adapter = SoftAdapter.get();
    private final String[] devices = {TestDevices.get(0), TestDevices.get(1), TestDevices.get(2), TestDevices.get(3)};

    @AfterEach
    void plugAllIn() {
        for (String device : devices) {
            adapter.insert(device);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void everyTransferEndsWhenTheOnlyDeviceGoes(int removed) {
        SteadyRounds.run(LIVENESS, liveness -> {
            plugAllIn();
            try (VerbsPair pair = VerbsPair.open(both -> both.lanes(2).livenessTimeout(liveness))) {
                MixedLoad load = MixedLoad.of(pair).start();
                MixedLoad back = MixedLoad.back(pair).start();
                load.awaitProgress(200);
                adapter.remove(devices[removed]);
                for (MixedLoad each : new MixedLoad[] {load, back}) {
                    assertThat(each.awaitEnd())
                            .isNotEmpty()
                            .allSatisfy(error -> assertThat(error)
                                    .isInstanceOfAny(ConnectionLostException.class, OutcomeUnknownException.class));
                    each.assertNothingWasDoneTwice();
                }
                Patience.failure(pair.connection().ended(), ConnectionLostException.class);
                Patience.failure(pair.accepted().ended(), ConnectionLostException.class);
                // neither an endless wait nor a crash: the engine of that device says what is wrong
                assertThat(Patience.failure(
                                pair.initiator().connect(pair.target().address()), ConnectFailedException.class))
                        .hasMessageContaining(devices[removed]);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void loadGoesOnWhenOneOfTwoDevicesGoes(int removed) {
        try (VerbsPair pair = VerbsPair.openRails(both -> both.lanes(4))) {
            MixedLoad load = MixedLoad.of(pair).start();
            MixedLoad back = MixedLoad.back(pair).start();
            load.awaitProgress(200);
            adapter.remove(devices[removed]);
            load.awaitProgress(1000);
            back.awaitProgress(1000);
            load.stopAndCheck();
            back.stopAndCheck();
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @Test
    void idleEnginesCloseWhenTheirDevicesAreGone() {
        long regions = adapter.counter("regions");
        VerbsPair pair = VerbsPair.openRails(both -> {});
        for (String device : devices) {
            adapter.remove(device);
        }
        pair.close();
        assertThat(adapter.counter("regions")).isEqualTo(regions);
    }
}
