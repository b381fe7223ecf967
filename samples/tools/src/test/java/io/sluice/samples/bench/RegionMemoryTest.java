package io.sluice.samples.bench;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RegionMemoryTest {
    private static final long PEBIBYTE = 1L << 50;

    @ParameterizedTest
    @EnumSource
    void whatIsNotAvailableIsRefusedBeforeItIsTouched(RegionMemory memory) {
        try (Arena arena = Arena.ofShared();
                TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                        .noListener()
                        .transports(List.of("tcp"))
                        .build())) {
            assertThatExceptionOfType(RegistrationException.class)
                    .isThrownBy(() -> memory.region(engine, PEBIBYTE, RegionOptions.local(), arena))
                    .withMessageContaining("are available");
        }
    }
}
