package io.sluice.engine.providers;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which transports an engine opens. */
class TransportsTest {
    private static EngineOptions.Builder options() {
        return PatientOptions.builder();
    }

    @Test
    void oneThatIsOpenedByItsNameAloneIsNotAmongThoseOfADefault() {
        try (Transports transports = Transports.open(options().build())) {
            assertThat(transports.names()).contains("tcp").doesNotContain(ByNameTransportProvider.NAME);
            assertThat(transports.lacksAnyOf(List.of(ByNameTransportProvider.COMPLEMENT)))
                    .isFalse();
        }
    }

    @Test
    void aTransportWithoutTheOneThatItLeavesMemoryToIsOpenAndSaysSo() {
        List<String> named = List.of("tcp", ByNameTransportProvider.NAME);
        try (Transports transports = Transports.open(options().transports(named).build())) {
            assertThat(transports.names()).containsExactlyElementsOf(named);
            assertThat(transports.lacking())
                    .contains("'absent' is not available", "'byname' leaves", "add the artifact sluice-absent");
        }
    }
}
