package io.sluice.samples.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextTest {

    @ParameterizedTest
    @CsvSource({
        "500ms, 500",
        "0s, 0",
        "30s, 30000",
        "30, 30000",
        "5m, 300000",
        "1h, 3600000",
        "1H, 3600000",
        "' 2 S ', 2000"
    })
    void accepts(String text, long millis) {
        assertThat(DurationText.parse(text)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "s", "-1s", "1.5s", "1d", "1min", "1h30m", "PT1H"})
    void refusesAndSaysWhatItAccepts(String text) {
        assertThatThrownBy(() -> DurationText.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("'" + text + "' ")
                .hasMessageContaining("500ms, 30s, 5m or 1h");
    }

    @ParameterizedTest
    @ValueSource(strings = {"9999999h", "9223372036854775807h", "9223372036854775807s", "99999999999999999999ms"})
    void refusesWhatDoesNotFit(String text) {
        assertThatThrownBy(() -> DurationText.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("too long");
    }
}
