package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.bench.BenchOperation;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** UCX's Java binding, between two processes where this machine has UCX. */
class JucxTransfersTest {

    private static BenchEnvironment workbench() throws Exception {
        Timing timing = new Timing(1, Duration.ofMillis(200), Duration.ofMillis(50));
        Pinning pinning = new Pinning(List.of(), List.of(), List.of(), true);
        return BenchEnvironment.open(timing, pinning, arguments -> arguments, () -> false);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"READ, 8, 32", "WRITE, 1048576, 1"})
    void itTransfersOtherSizesBetweenTwoProcesses(BenchOperation operation, long size, int outstanding)
            throws Exception {
        itTransfersBetweenTwoProcesses(operation, size, outstanding);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("READ, 65536, 4")
    void itTransfersOtherwiseBetweenTwoProcesses(BenchOperation operation, long size, int outstanding)
            throws Exception {
        itTransfersBetweenTwoProcesses(operation, size, outstanding);
    }

    @ParameterizedTest
    @CsvSource("WRITE, 8, 32")
    void itTransfersBetweenTwoProcesses(BenchOperation operation, long size, int outstanding) throws Exception {
        Assumptions.assumeTrue(UcxLibrary.isPresent(), "no " + UcxLibrary.NAME);
        try (BenchEnvironment workbench = workbench()) {
            Figures figures = new JucxTransfers(operation, size, outstanding).run(workbench);
            assertThat(figures.values().get(Quantity.TRANSFERS_PER_SECOND)).isPositive();
            assertThat(figures.values().get(Quantity.GIGABYTES_PER_SECOND))
                    .isEqualTo(figures.values().get(Quantity.TRANSFERS_PER_SECOND) * size / 1e9);
        }
    }

    @Test
    void aFailureOfItsProcessIsToldAsOne() throws Exception {
        // with the library it refuses a region of so many bytes, without it there is nothing to load
        try (BenchEnvironment workbench = workbench()) {
            assertThatThrownBy(() -> new JucxTransfers(BenchOperation.WRITE, -1, 1).run(workbench))
                    .isInstanceOf(MeasurementFailedException.class);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "TCP, WRITE, 8, 32, 32",
        "TCP, WRITE, 65536, 32, 16",
        "TCP, WRITE, 1048576, 32, 1",
        "TCP, WRITE, 16777216, 32, 1",
        "TCP, WRITE, 65536, 4, 4",
        "TCP, READ, 16777216, 32, 32",
        "SHARED_MEMORY, WRITE, 16777216, 32, 32"
    })
    void largePutsOverTcpAreLimited(
            UcxTransfers.Transports transports, BenchOperation operation, long size, int inflight, int expected) {
        Route route = Route.TCP;
        assertThat(transports.outstanding(Transfers.of(route, operation, size, inflight)))
                .isEqualTo(expected);
    }

    @Test
    void theBindingTellsItsVersion() {
        assertThat(UcxLibrary.bindingVersion()).matches("jucx \\d+\\.\\d+\\.\\d+.*");
        assertThat(Program.JUCX.packages()).isEqualTo(List.of("libucx0"));
    }
}
