package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.HostAndPort;
import io.sluice.samples.replay.Pacing;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class OptionTextsTest {

    @Test
    void addressesToListenOn() {
        assertThat(HostAndPort.parse("127.0.0.1:0")).isEqualTo(ServerOptions.LOOPBACK);
        assertThat(HostAndPort.parse("[::1]:7000")).isEqualTo(new HostAndPort("::1", 7000));
        assertThat(HostAndPort.parse("[::1]:7000")).hasToString("[::1]:7000");
        assertThat(HostAndPort.parse("node-7.example:65535")).hasToString("node-7.example:65535");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":7000",
                "localhost",
                "localhost:",
                "localhost:x",
                "h:65536",
                "h:-1",
                "::1:7000",
                "::1",
                "[]:7"
            })
    void otherTextsAreNoAddressesToListenOn(String text) {
        assertThatThrownBy(() -> OptionTypes.converter(HostAndPort::parse).convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"max", "MAX", "1", "0.5", "1e3"})
    void speeds(String text) throws Exception {
        assertThat(OptionTypes.converter(Pacing::parse).convert(text)).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "fast", "0", "-1", "NaN", "Infinity"})
    void otherTextsAreNoSpeeds(String text) {
        assertThatThrownBy(() -> OptionTypes.converter(Pacing::parse).convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("max");
    }

    @Test
    void addressesToConnectTo() throws Exception {
        assertThat(OptionTypes.converter(EngineAddress::parse)
                        .convert("10.0.0.2:7000")
                        .port())
                .isEqualTo(7000);
        assertThatThrownBy(() -> OptionTypes.converter(EngineAddress::parse).convert("10.0.0.2"))
                .isInstanceOf(TypeConversionException.class);
    }
}
