package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** If one side has no RDMA, the connection takes a transport that both have, and the log says why. */
@Tag("verbs")
class TransportFallbackTest {
    private static EngineOptions.Builder options(String transports) {
        return PatientOptions.builder().transports(List.of(transports.split(",")));
    }

    /** The lines that say that a connection uses a lesser transport. */
    private static List<String> explanations(CapturedLog log) {
        return log.lines().stream()
                .filter(line -> line.startsWith("INFO") && line.contains(" uses tcp"))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void connectionTakesTcpWhereThePeerHasThatAlone(boolean initiatorHasVerbs) {
        try (CapturedLog log = CapturedLog.everything();
                TransferEngine initiator = TransferEngine.open(
                        options(initiatorHasVerbs ? "verbs,tcp" : "tcp").build());
                TransferEngine target = TransferEngine.open(
                        options(initiatorHasVerbs ? "tcp" : "verbs,tcp").build())) {
            Connection connection = Patience.await(initiator.connect(target.address()));
            assertThat(connection.transport()).isEqualTo("tcp");
            Patience.until("it is explained", () -> !explanations(log).isEmpty());
            assertThat(explanations(log)).singleElement().asString().contains("verbs is not offered by the peer");
            log.assertNoErrors();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void reasonOfThePeerIsInTheLog(boolean initiatorHasVerbs) {
        Map<String, String> broken = Map.of("SLUICE_VERBS_DEVICES", "mlx5_77");
        EngineOptions with = options("verbs,tcp").build();
        EngineOptions without = options("verbs,tcp").environment(broken).build();
        try (CapturedLog log = CapturedLog.everything();
                TransferEngine initiator = TransferEngine.open(initiatorHasVerbs ? with : without);
                TransferEngine target = TransferEngine.open(initiatorHasVerbs ? without : with)) {
            assertThat(log.lines())
                    .anySatisfy(line -> assertThat(line)
                            .startsWith("WARN")
                            .contains("continuing with only [tcp]")
                            .contains("mlx5_77"));
            Connection connection = Patience.await(initiator.connect(target.address()));
            assertThat(connection.transport()).isEqualTo("tcp");
            // each side says it once, and both know the reason
            Patience.until("it is explained", () -> explanations(log).size() >= 2);
            assertThat(explanations(log))
                    .hasSize(2)
                    .allSatisfy(line -> assertThat(line).contains("mlx5_77").contains("SLUICE_VERBS_DEVICES"));
        }
    }

    @Test
    void bothTakeVerbsWhereBothHaveItWithoutAWarning() {
        try (CapturedLog log = CapturedLog.everything();
                TransferEngine initiator =
                        TransferEngine.open(options("verbs,tcp").build());
                TransferEngine target = TransferEngine.open(options("tcp,verbs").build())) {
            Connection connection = Patience.await(initiator.connect(target.address()));
            assertThat(connection.transport()).isIn("verbs", "tcp");
            assertThat(Patience.await(target.connect(initiator.address())).transport())
                    .isIn("verbs", "tcp");
            log.assertNoErrors();
        }
        try (CapturedLog log = CapturedLog.everything();
                TransferEngine initiator =
                        TransferEngine.open(PatientOptions.builder().build());
                TransferEngine target = TransferEngine.open(options("verbs,tcp").build())) {
            Connection connection = Patience.await(initiator.connect(target.address()));
            assertThat(connection.transport()).as("before tcp").isEqualTo("verbs");
            assertThat(connection.transportReason()).contains("shm is not offered by the peer");
            assertThat(explanations(log)).isEmpty();
        }
    }

    @Test
    void enginesWithoutATransportInCommonDoNotConnect() {
        try (TransferEngine initiator = TransferEngine.open(options("verbs").build());
                TransferEngine target = TransferEngine.open(options("tcp").build())) {
            TransportUnavailableException refused =
                    Patience.failure(initiator.connect(target.address()), TransportUnavailableException.class);
            assertThat(refused).hasMessageEndingWith("no transport in common: this engine has tcp");
        }
    }

    @Test
    void engineWhoseOnlyTransportCannotBeHadSaysWhatWasTried() {
        assertThatThrownBy(() -> TransferEngine.open(options("verbs")
                        .environment(Map.of("SLUICE_VERBS_DEVICES", "mlx5_77"))
                        .build()))
                .isInstanceOf(TransportUnavailableException.class)
                .hasMessageContaining("mlx5_77")
                .hasMessageContaining(TestDevices.get(0));

        String missing = "/nonexistent/libibverbs.so";
        assertThat(TestProcess.without(Map.of())
                        .option("-D" + Native.LIBRARY_PROPERTY + "=" + missing)
                        .run(OpenedTransports.OUTCOME, OpenedTransports.class, "verbs", "verbs,tcp"))
                .satisfiesExactly(
                        alone -> assertThat(alone)
                                .startsWith("TransportUnavailableException: ")
                                .contains(missing),
                        both -> assertThat(both).startsWith("opened "));

        assertThat(TestProcess.with(Map.of("SOFT_ADAPTER_DEVICES", "0"))
                        .run(OpenedTransports.OUTCOME, OpenedTransports.class, "verbs"))
                .singleElement()
                .asString()
                .startsWith("TransportUnavailableException: ")
                .contains("no RDMA device")
                .contains("ibv_devices");

        assertThat(TestProcess.with(Map.of("SOFT_ADAPTER_DEVICES", "2", "SOFT_ADAPTER_PORTS_DOWN", "0,1"))
                        .run(OpenedTransports.OUTCOME, OpenedTransports.class, "verbs"))
                .singleElement()
                .asString()
                .startsWith("TransportUnavailableException: ")
                .contains("no port is active")
                .contains("soft0, soft1");
    }

    /** Without the software adapter: the log has a line about it on every machine. */
    @Test
    void machineWithoutRdmaSaysSo() {
        assertThat(TestProcess.without(Map.of()).run(OpenedTransports.OUTCOME, OpenedTransports.class, "verbs"))
                .singleElement()
                .asString()
                .satisfiesAnyOf(
                        outcome -> assertThat(outcome)
                                .startsWith("TransportUnavailableException: ")
                                .containsAnyOf("libibverbs.so.1", "ibv_devices", "ibv_devinfo"),
                        // one that has a device
                        outcome -> assertThat(outcome).startsWith("opened "));
    }
}
