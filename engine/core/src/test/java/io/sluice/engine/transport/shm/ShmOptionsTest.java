package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sluice.testkit.PatientOptions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShmOptionsTest {
    @Test
    void defaults() {
        ShmOptions options = ShmOptions.builder().build();
        assertThat(options.hugePages()).isFalse();
        assertThat(options.trustHugePages()).isFalse();
        assertThat(options.prefault()).isTrue();
        assertThat(options.crossMemoryAttach()).isFalse();
        assertThat(options.directory()).isNull();
        assertThat(options.callerThreadBytes()).isEqualTo(64 << 10);
    }

    @Test
    void variablesOverride() {
        ShmOptions options = ShmOptions.builder()
                .callerThreadBytes(5)
                .environment(Map.of(
                        "SLUICE_SHM_HUGE_PAGES", "true",
                        "SLUICE_SHM_TRUST_HUGE_PAGES", "true",
                        "SLUICE_SHM_PREFAULT", "false",
                        "SLUICE_SHM_CROSS_MEMORY_ATTACH", "true",
                        "SLUICE_SHM_DIRECTORY", "/run/sluice",
                        "SLUICE_SHM_CALLER_THREAD_BYTES", "1048576"))
                .build();
        assertThat(options.hugePages()).isTrue();
        assertThat(options.trustHugePages()).isTrue();
        assertThat(options.prefault()).isFalse();
        assertThat(options.crossMemoryAttach()).isTrue();
        assertThat(options.directory()).isEqualTo("/run/sluice");
        assertThat(options.callerThreadBytes()).isEqualTo(1 << 20);
    }

    @Test
    void whatIsNotSetStays() {
        ShmOptions options = ShmOptions.builder()
                .callerThreadBytes(5)
                .prefault(false)
                .environment(Map.of("SLUICE_SHM_HUGE_PAGES", "true"))
                .build();
        assertThat(options.callerThreadBytes()).isEqualTo(5);
        assertThat(options.prefault()).isFalse();
    }

    @Test
    void engineTakesThoseGivenAndElseItsVariables() {
        Map<String, String> variables = Map.of("SLUICE_SHM_CALLER_THREAD_BYTES", "7");
        assertThat(ShmOptions.of(PatientOptions.builder().environment(variables).build())
                        .callerThreadBytes())
                .isEqualTo(7);
        assertThat(ShmOptions.of(PatientOptions.builder()
                                .environment(variables)
                                .transport(ShmOptions.builder()
                                        .callerThreadBytes(9)
                                        .build())
                                .build())
                        .callerThreadBytes())
                .isEqualTo(9);
    }

    @Test
    void optionsDoNotChangeWithTheirBuilder() {
        ShmOptions.Builder builder = ShmOptions.builder();
        ShmOptions before = builder.build();
        builder.hugePages(true);
        assertThat(before.hugePages()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "SLUICE_SHM_HUGE_PAGES, perhaps",
        "SLUICE_SHM_TRUST_HUGE_PAGES, 2",
        "SLUICE_SHM_PREFAULT, x",
        "SLUICE_SHM_CROSS_MEMORY_ATTACH, -",
        "SLUICE_SHM_DIRECTORY, run/sluice",
        "SLUICE_SHM_CALLER_THREAD_BYTES, -1",
        "SLUICE_SHM_CALLER_THREAD_BYTES, 1048577",
        "SLUICE_SHM_CALLER_THREAD_BYTES, 99999999999",
        "SLUICE_SHM_CALLER_THREAD_BYTES, many"
    })
    void senselessVariablesAreRefusedByName(String name, String value) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> ShmOptions.builder().environment(Map.of(name, value)))
                .withMessageContaining(name);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE, (1 << 20) + 1})
    void callerThreadBytesOutOfRange(int bytes) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> ShmOptions.builder().callerThreadBytes(bytes));
    }

    @Test
    void directoryIsAbsoluteAndShort() {
        String longest = "/" + "d".repeat(59);
        assertThat(ShmOptions.builder().directory(longest).build().directory()).isEqualTo(longest);
        for (String wrong : new String[] {"", "relative", longest + "d", "/" + "ä".repeat(30)}) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .as(wrong)
                    .isThrownBy(() -> ShmOptions.builder().directory(wrong));
        }
    }
}
