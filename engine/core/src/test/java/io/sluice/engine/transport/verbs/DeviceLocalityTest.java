package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceLocalityTest {
    @ParameterizedTest
    @CsvSource({
        "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0, /sys/devices/pci0000:00/0000:00:01.0/0000:02:00.0, 4",
        "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0, /sys/devices/pci0000:00/0000:00:03.0/0000:02:00.0, 3",
        "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0, /sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0, 2",
        "/sys/devices/a, /sys/devices/a, 3",
        "/sys/devices/a, /sys/devices/a/b, 3",
        "/a, /b, 0"
    })
    void moreBridgesInCommonAreNearer(String one, String other, int shared) {
        assertThat(DeviceLocality.shared(Path.of(one), Path.of(other))).isEqualTo(shared);
        assertThat(DeviceLocality.shared(Path.of(other), Path.of(one))).isEqualTo(shared);
    }

    @ParameterizedTest
    @ValueSource(strings = {"numa:", "numa:x", "numa:1.5", "", "here", "9999:99:99.9", "../../etc"})
    void placeThatDoesNotExistIsNamed(String place) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DeviceLocality.to(place))
                .withMessageContaining("'" + place + "'");
    }

    @Test
    void deviceOfWhichNothingIsKnownIsNotNear() {
        assertThat(DeviceLocality.to("numa:0").of("no such device")).isZero();
        assertThat(DeviceLocality.to(null).of("no such device")).isZero();
    }
}
