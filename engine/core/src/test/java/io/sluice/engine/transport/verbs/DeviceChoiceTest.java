package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which devices, ports and GIDs the options choose, and what is said where they choose none. */
@Tag("verbs")
@Tag("softroce")
class DeviceChoiceTest {
    private static List<String> chosen(String... devices) {
        // loads the library
        assertThat(TestDevices.get(0)).isNotNull();
        return PortChoice.choose(VerbsOptions.builder().devices(devices).build(), DeviceChoiceTest::distance).stream()
                .map(choice -> choice.device() + ":" + choice.port())
                .toList();
    }

    /** The last is the nearest. */
    private static long distance(String device) {
        return device.equals(TestDevices.get(1)) ? 1 : Long.MAX_VALUE;
    }

    private static EngineOptions with(String variable, String value) {
        return VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(1))
                .options()
                .environment(Map.of("SLUICE_VERBS_" + variable, value))
                .build();
    }

    @Test
    void devicesByNameInTheirOrder() {
        String first = TestDevices.get(0);
        String second = TestDevices.get(1);
        assertThat(chosen(first)).containsExactly(first + ":1");
        assertThat(chosen(second, first + ":1")).containsExactly(second + ":1", first + ":1");
        assertThat(chosen(first, first + ":1")).as("one port once").containsExactly(first + ":1");
        assertThat(chosen("all")).contains(first + ":1", second + ":1");
        assertThat(chosen()).as("by default the nearest of them").containsExactly(second + ":1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"mlx5_99", "mlx5_99:1", "", "all,all"})
    void unknownDeviceIsNamedWithTheExistingOnes(String name) {
        assertThatExceptionOfType(TransportUnavailableException.class)
                .isThrownBy(() -> chosen(name))
                .withMessageContaining("'" + (name.indexOf(':') < 0 ? name : "mlx5_99") + "'")
                .withMessageContaining("SLUICE_VERBS_DEVICES")
                .withMessageContaining(TestDevices.get(0));
    }

    @Test
    void portThatIsNoNumberOrNotThere() {
        String device = TestDevices.get(0);
        assertThatThrownBy(() -> chosen(device + ":one"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(device + ":one")
                .hasMessageContaining("SLUICE_VERBS_DEVICES");
        assertThatThrownBy(() -> TransferEngine.open(with("DEVICES", device + ":9")))
                .hasMessageContaining(device)
                .hasMessageContaining("9");
    }

    @Test
    void missingGidIsNamedWithTheExistingOnes() {
        assertThatThrownBy(() -> TransferEngine.open(with("GID_INDEX", "200")))
                .hasMessageContaining("GID 200")
                .hasMessageContaining("SLUICE_VERBS_GID_INDEX")
                .hasMessageContaining("GID 0 ");
    }

    @Test
    void placeThatIsNotThereIsNamed() {
        EngineOptions options = PatientOptions.builder()
                .transports(List.of("verbs"))
                .environment(Map.of("SLUICE_VERBS_NEAR", "nowhere"))
                .build();
        assertThatThrownBy(() -> TransferEngine.open(options))
                .hasMessageContaining("'nowhere'")
                .hasMessageContaining("numa:");
    }

    @ParameterizedTest
    @Tag("softroce-long")
    @CsvSource({
        "SEND_DEPTH, 128",
        "READ_DEPTH, 1",
        "SEND_DEPTH, 8000",
        "RNR_RETRIES, 0",
        "HOP_LIMIT, 1",
        "TRAFFIC_CLASS, 104"
    })
    void transfersGoThroughWithUnusualQueues(String variable, String value) {
        VerbsUnderTest transport =
                VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(1)).with("SLUICE_VERBS_" + variable, value);
        try (VerbsPair pair = VerbsPair.open(transport, both -> both.lanes(2).windowOperations(1024))) {
            MixedLoad load = MixedLoad.of(pair).start();
            MixedLoad back = MixedLoad.back(pair).start();
            load.awaitProgress(TestDevices.rounds(500));
            back.awaitProgress(TestDevices.rounds(500));
            load.stopAndCheck();
            back.stopAndCheck();
        }
    }
}
