package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.testkit.PatientOptions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each place that reads an address: the text itself, an engine's address, the variables. */
class HostAndPortTest {
    private static EngineOptions advertising(String text) {
        return PatientOptions.builder()
                .environment(Map.of("SLUICE_ADVERTISE", text))
                .build();
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:7000, 127.0.0.1, 7000",
        "node-7.example.org:65535, node-7.example.org, 65535",
        "[::1]:7000, ::1, 7000",
        "[2001:db8::17]:7400, 2001:db8::17, 7400",
        "[2001:db8:1:2:3:4:5:6]:1, 2001:db8:1:2:3:4:5:6, 1",
        "[::ffff:192.0.2.1]:7000, ::ffff:192.0.2.1, 7000",
        "[fe80::1%eth0]:7000, fe80::1%eth0, 7000",
        "[fe80::1%no-such-interface]:7000, fe80::1%no-such-interface, 7000",
        "' [::1]:07000 ', ::1, 7000",
        "größe.example:7000, größe.example, 7000"
    })
    void anAddressIsReadTheSameEverywhere(String text, String host, int port) {
        assertThat(HostAndPort.parse(text)).isEqualTo(new HostAndPort(host, port));
        assertThat(HostAndPort.parse(HostAndPort.parse(text).toString())).isEqualTo(new HostAndPort(host, port));
        assertThat(EngineAddress.parse(text)).isEqualTo(EngineAddress.of(host, port));
        assertThat(advertising(text).advertisedHost()).isEqualTo(host);
        assertThat(advertising(text).advertisedPort()).isEqualTo(port);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2001:db8::17 | write [2001:db8::17]:7400",
                "2001:db8:1:2:3:4:5:6 | write [2001:db8:1:2:3:4:5:6]:7400",
                "2001:db8:1:2:3:4:5:6:7000 | write [2001:db8:1:2:3:4:5:6]:7000",
                "::1 | write [::1]:7400",
                "::1:7000 | write [::1]:7000, or [::1:7000]:7400 if all of it is the address",
                "::1:70000 | write [::1]:70000",
                "2001:db8::17:port | write [2001:db8::17]:7400",
                "fe80::1%eth0 | write [fe80::1%eth0]:7400",
                "fe80::1%eth0:7000 | write [fe80::1%eth0]:7000",
                "[2001:db8::17] | write [2001:db8::17]:7400",
                "[::1]7000 | write [::1]:7400",
                "[2001:db8::17]: | write [2001:db8::17]:7400",
                "host: | write host:7400",
                "host:port | write host:7400",
                "host:+7 | write host:7400",
                "host:７０ | write host:7400",
                "host | write HOST:PORT",
                ":7000 | write HOST:PORT",
                "[]:7000 | write HOST:PORT",
                "[host]:7000 | write HOST:PORT",
                "[::1:7000 | write HOST:PORT",
                "[2001:db8:]:17 | write HOST:PORT",
                "[fe80::1%]:17 | write HOST:PORT",
                "a:b:7000 | write HOST:PORT",
                "10.0.0.1:70:80 | write HOST:PORT",
                "host:65536 | a port is 0 to 65535, not 65536",
                "ho st:7000 | 'ho st' is not a host name or address",
                "host :7000 | 'host ' is not a host name or address"
            })
    void anythingElseIsToldWhatToWrite(String text, String advice) {
        assertThatThrownBy(() -> HostAndPort.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "'")
                .hasMessageContaining(advice);
        assertThatThrownBy(() -> EngineAddress.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(advice);
        assertThatThrownBy(() -> advertising(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("SLUICE_ADVERTISE")
                .hasMessageContaining(advice);
    }

    @Test
    void portZeroIsForThePlacesThatKnowWhatItMeans() {
        assertThat(advertising("[::1]:0").advertisedPort()).isZero();
        assertThatThrownBy(() -> EngineAddress.parse("[::1]:0")).hasMessage("a port is 1 to 65535, not 0");
        assertThatThrownBy(() -> new HostAndPort("host", -1)).hasMessage("a port is 0 to 65535, not -1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "[::1]", "host:7000", "2001:db8:", "[2001:db8:", "::1%", "a\u00a0b", "a#b"})
    void aHostAloneIsCheckedWhereItIsGiven(String host) {
        EngineOptions.Builder builder = PatientOptions.builder();
        assertThatThrownBy(() -> builder.listen(host, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.advertise(host, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> EngineAddress.of(host, 1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void bracketsAroundAHostAloneAreNamed() {
        assertThatThrownBy(() -> PatientOptions.builder().advertise("[2001:db8::17]", 7400))
                .hasMessageContaining("write 2001:db8::17");
        assertThat(PatientOptions.builder().listen("::", 0).build().listenHost())
                .isEqualTo("::");
    }
}
