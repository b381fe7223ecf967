package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sluice.samples.bench.ExpertMode;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Parses the output of the programs. */
class PeerOutputsTest {

    private static final String BENCH =
            "{\"transport\":\"tcp\",\"op\":\"write\",\"size\":4096,\"iov\":1,\"transfers\":27840,"
                    + "\"gigabytes_per_second\":0.37962935722674,\"transfers_per_second\":92682.94854168457,"
                    + "\"latency_us\":{\"p50\":161.663,\"p90\":498.431},\"errors\":0}\n";

    @Test
    void ucxTellsTheOverallFigures() throws Exception {
        UcxTransfers.Output put = UcxTransfers.Output.of(RecordedOutput.of("ucx-put.csv"));
        assertThat(put.messagesPerSecond()).isEqualTo(234_486);
        assertThat(put.gigabytesPerSecond()).isCloseTo(234_486 * 4096 / 1e9, within(1e-5));
        UcxTransfers.Output get = UcxTransfers.Output.of(RecordedOutput.of("ucx-get.csv"));
        assertThat(get.messagesPerSecond()).isEqualTo(3584);
        assertThat(get.gigabytesPerSecond()).isCloseTo(3584.02 * (1 << 20) / 1e9, within(1e-9));
        assertThat(get.transfersPerSecond(1 << 20)).isCloseTo(3584.02, within(1e-9));
    }

    @Test
    void whatUcxSaysBesideItsFiguresDoesNotMatter() throws Exception {
        String warned = "[1795236667.7] [host:1:0] parser.c:1  UCX  WARN  unused environment variable, maybe: UCX_X\n"
                + RecordedOutput.of("ucx-get.csv");
        assertThat(UcxTransfers.Output.of(warned).messagesPerSecond()).isEqualTo(3584);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Waiting for connection...",
                "iterations,overall_bw,overall_mr",
                "iterations,overall_bw,overall_mr\n100,many,5",
                "iterations,overall_bw,overall_mr\n100,5"
            })
    void ucxWithoutFiguresIsAFailure(String output) {
        assertThatThrownBy(() -> UcxTransfers.Output.of(output)).isInstanceOf(MeasurementFailedException.class);
    }

    @Test
    void iperfTellsWhatWasReceived() throws Exception {
        assertThat(IperfStream.gigabytesPerSecond(RecordedOutput.of("iperf3.json")))
                .isCloseTo(32915580104.41991 / 8e9, within(1e-9));
    }

    @Test
    void anErrorOfIperfIsAFailureThoughItsStatusIsNone() throws IOException {
        String output = RecordedOutput.of("iperf3-error.json");
        assertThatThrownBy(() -> IperfStream.gigabytesPerSecond(output))
                .isInstanceOf(MeasurementFailedException.class)
                .hasMessageContaining("unable to connect to server: Connection refused");
    }

    @Test
    void theJavaBindingTellsItsFiguresAsTheCeilingDoes() throws Exception {
        BaselineRun.BaselineOutput output =
                BaselineRun.BaselineOutput.of(BaselineRun.BaselineOutput.toJson(500_000_000, 1_000));
        assertThat(output).isEqualTo(new BaselineRun.BaselineOutput(500_000_000, 1_000, 0, 0));
        assertThat(output.operationsPerSecond()).isCloseTo(2_000, within(1e-9));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "iperf3: error", "{\"end\":{\"sum_received\":{}}}"})
    void iperfWithoutARateIsAFailure(String output) {
        assertThatThrownBy(() -> IperfStream.gigabytesPerSecond(output)).isInstanceOf(MeasurementFailedException.class);
    }

    @Test
    void benchTellsRatesAndTheMedianLatency() throws Exception {
        Figures figures = OwnTransfers.figures("OpenJDK 64-Bit Server VM warning: something\n" + BENCH)
                .checked();
        assertThat(figures.values())
                .containsEntry(Quantity.GIGABYTES_PER_SECOND, 0.37962935722674)
                .containsEntry(Quantity.TRANSFERS_PER_SECOND, 92682.94854168457)
                .containsEntry(Quantity.ELEMENTS_PER_SECOND, 92682.94854168457)
                .containsEntry(Quantity.MEDIAN_MICROSECONDS, 161.663);
        assertThat(OwnTransfers.figures(BENCH.replace("\"iov\":1", "\"iov\":256"))
                        .values())
                .containsEntry(Quantity.ELEMENTS_PER_SECOND, 256 * 92682.94854168457);
    }

    @Test
    void benchTellsTheTailAndTheProcessorTimeOfBothSides() throws Exception {
        Figures figures = OwnTransfers.figures("{\"op\":\"write\",\"bytes\":4000000000,\"gigabytes_per_second\":2,"
                        + "\"transfers_per_second\":5,\"latency_us\":{\"p50\":10,\"p99\":25},\"errors\":0,"
                        + "\"client_cpu_seconds\":2,\"server_cpu_seconds\":1}")
                .checked();
        assertThat(figures.values())
                .containsEntry(Quantity.TAIL, 2.5)
                .containsEntry(Quantity.INITIATOR_SECONDS_PER_GIGABYTE, 0.5)
                .containsEntry(Quantity.TARGET_SECONDS_PER_GIGABYTE, 0.25);
    }

    @Test
    void benchTellsOfConnectionsOnlyTheirRateAndLatency() throws Exception {
        Figures figures = OwnTransfers.figures("{\"op\":\"connect\",\"bytes\":0,\"gigabytes_per_second\":0,"
                        + "\"transfers_per_second\":500,\"latency_us\":{\"p50\":1000,\"p99\":1500},\"errors\":0}")
                .checked();
        assertThat(figures.values())
                .containsOnlyKeys(Quantity.CONNECTS_PER_SECOND, Quantity.MEDIAN_MICROSECONDS, Quantity.TAIL)
                .containsEntry(Quantity.CONNECTS_PER_SECOND, 500.0);
    }

    @Test
    void benchWithFailedTransfersOrWithoutFiguresIsAFailure() {
        assertThatThrownBy(() -> OwnTransfers.figures(BENCH.replace("\"errors\":0", "\"errors\":3")))
                .isInstanceOf(MeasurementFailedException.class)
                .hasMessageContaining("3");
        assertThatThrownBy(() -> OwnTransfers.figures("{\"errors\":0}").checked())
                .isInstanceOf(MeasurementFailedException.class);
        for (String output : List.of("", "a warning of the JVM\n", "{")) {
            assertThatThrownBy(() -> OwnTransfers.figures(output))
                    .isInstanceOf(MeasurementFailedException.class)
                    .hasMessageContaining("no figures");
        }
    }

    @Test
    void bothSidesOfExpertsOfGpusTellTimesByTheDevice() throws Exception {
        GpuExperts many = new GpuExperts(ExpertMode.NORMAL, false);
        String bench = "{\"errors\":0,\"verified\":true,\"combine_bytes\":14336000,\"device_dispatch_us\":40.0,"
                + "\"device_combine_us\":80.0,\"device_round_us\":110.0}";
        String torch = "{\"vectors\": 1000.0, \"dispatch_us\": 40.0, \"combine_us\": 80.0, \"round_us\": 110.0}\n";
        for (Figures figures : List.of(
                new OwnGpuExperts(many).figures("a warning\n" + bench).checked(),
                new TorchExperts(many).figures("NCCL version 2.28.9\n" + torch).checked())) {
            assertThat(figures.values())
                    .containsEntry(Quantity.DEVICE_DISPATCH_MICROSECONDS, 40.0)
                    .containsEntry(Quantity.DEVICE_COMBINE_MICROSECONDS, 80.0)
                    .containsEntry(Quantity.DEVICE_ROUND_MICROSECONDS, 110.0)
                    .containsEntry(Quantity.DISPATCH_GIGABYTES_PER_SECOND, 358.4)
                    .containsEntry(Quantity.COMBINE_GIGABYTES_PER_SECOND, 179.2);
        }
        // a message of 16 bytes, 7,168 codes and 56 scales for each expert
        GpuExperts few = new GpuExperts(ExpertMode.LOW_LATENCY, true);
        assertThat(new TorchExperts(few).figures(torch).values())
                .containsEntry(Quantity.DISPATCH_GIGABYTES_PER_SECOND, 1000 * 7408.0 / 40 / 1e3);
    }

    @Test
    void expertsOfGpusThatAreWrongOrWithoutFiguresAreAFailure() {
        GpuExperts few = new GpuExperts(ExpertMode.LOW_LATENCY, true);
        assertThatThrownBy(() -> new OwnGpuExperts(few).figures("{\"errors\":0,\"verified\":false}"))
                .isInstanceOf(MeasurementFailedException.class)
                .hasMessageContaining("verified: false");
        assertThatThrownBy(() -> new OwnGpuExperts(few)
                        .figures("{\"errors\":0,\"verified\":true}")
                        .checked())
                .isInstanceOf(MeasurementFailedException.class);
        for (String output : List.of("", "torch: 3 rows or sums are wrong", "{\"vectors\": 5.0}")) {
            assertThatThrownBy(() -> new TorchExperts(few).figures(output))
                    .isInstanceOf(MeasurementFailedException.class)
                    .hasMessageContaining("no figures");
        }
        for (String output : List.of("", "a warning of the JVM\n")) {
            assertThatThrownBy(() -> new OwnGpuExperts(few).figures(output))
                    .isInstanceOf(MeasurementFailedException.class)
                    .hasMessageContaining("no figures");
        }
    }

    @Test
    void theCeilingTellsRatesAMedianAndATail() throws Exception {
        BaselineRun.BaselineOutput output =
                BaselineRun.BaselineOutput.of("{\"mode\":\"put\",\"size\":8,\"inflight\":32,\"nanos\":2000000000,"
                        + "\"operations\":500,\"median_nanos\":2500,\"p99_nanos\":4000}\n");
        assertThat(output.operationsPerSecond()).isEqualTo(250);
        assertThat(output.medianMicros()).isEqualTo(2.5);
        assertThat(output.tail()).isEqualTo(1.6);
        assertThatThrownBy(() -> BaselineRun.BaselineOutput.of("usage: ceiling"))
                .isInstanceOf(MeasurementFailedException.class);
    }
}
