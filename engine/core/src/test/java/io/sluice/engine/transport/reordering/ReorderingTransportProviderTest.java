package io.sluice.engine.transport.reordering;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportStatus;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The transport is available to engines that name it, and to no others. */
class ReorderingTransportProviderTest {
    private static String transportOfAConnection(EngineOptions options) {
        try (TransferEngine engine = TransferEngine.open(options)) {
            Connection connection = Patience.await(engine.connect(engine.address()));
            return connection.transport();
        }
    }

    @Test
    void bothVariantsAreFound() {
        assertThat(TransferEngine.transports())
                .filteredOn(TransportStatus::isAvailable)
                .extracting(TransportStatus::name)
                .contains("reordering", "reorderingplain");
    }

    @Test
    void engineThatNamesNoTransportDoesNotTakeIt() {
        assertThat(transportOfAConnection(PatientOptions.builder().build())).doesNotStartWith("reordering");
    }

    @ParameterizedTest
    @ValueSource(strings = {"reordering", "reorderingplain"})
    void engineThatNamesItTakesIt(String name) {
        assertThat(transportOfAConnection(
                        PatientOptions.builder().transports(List.of(name)).build()))
                .isEqualTo(name);
    }

    @Test
    void onlyOneVariantLetsWritesCarrySignals() {
        EngineOptions options = PatientOptions.builder().build();
        try (var carrying = new ReorderingTransportProvider().open(options);
                var plain = new ReorderingTransportProvider.WithoutSignals().open(options)) {
            assertThat(carrying.capabilities().writeWithSignal()).isTrue();
            assertThat(plain.capabilities().writeWithSignal()).isFalse();
        }
    }
}
