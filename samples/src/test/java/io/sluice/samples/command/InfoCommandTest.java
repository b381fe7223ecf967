package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.engine.TransportStatus;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class InfoCommandTest {

    @Test
    void jsonHasVersionMachineAndTransports() throws IOException {
        JsonNode json = new ObjectMapper().readTree(run("--json"));
        assertThat(json.get("version").asText()).isNotEmpty();
        JsonNode machine = json.get("machine");
        assertThat(machine.get("kernel").asText()).isNotEmpty();
        assertThat(machine.get("cpu_model").asText()).isNotEmpty();
        assertThat(machine.get("processors").asInt()).isPositive();
        assertThat(machine.get("memory_bytes").asLong()).isPositive();
        assertThat(machine.get("locked_memory_limit_bytes").asLong()).isGreaterThanOrEqualTo(-1);
        assertThat(machine.get("page_bytes").asInt()).isGreaterThanOrEqualTo(4096);
        assertThat(machine.get("jvm").asText()).contains("25");
        assertThat(json.get("transports")).anySatisfy(transport -> {
            assertThat(transport.get("name").asText()).isEqualTo("tcp");
            assertThat(transport.get("available").asBoolean()).isTrue();
            assertThat(transport.get("reason").isNull()).isTrue();
        });
    }

    @Test
    void theTextSaysTheSameForPeople() {
        assertThat(run())
                .contains("sluice", "kernel", "processor", "lockable memory", "page size", "JVM", "tcp")
                .contains("available");
    }

    @Test
    void whatIsMissingAndWhatToDoIsSaid() {
        ProgramReport report = new ProgramReport(
                "1",
                new ProgramReport.MachineReport(
                        "6.1", null, 2, 1, null, ProgramReport.MachineReport.NO_LIMIT, null, "VM 25"),
                List.of(ProgramReport.TransportReport.of(
                        new TransportStatus("verbs", "no device; install rdma-core", null))));
        assertThat(report.toText())
                .contains("verbs            not available: no device; install rdma-core", "unknown", "no limit");
        assertThat(report.toJson())
                .contains(
                        "{\"name\":\"verbs\",\"available\":false,\"reason\":\"no device; install rdma-core\",\"devices\":[]}");
    }

    private static String run(String... arguments) {
        StringWriter out = new StringWriter();
        int status =
                new CommandLine(new InfoCommand()).setOut(new PrintWriter(out)).execute(arguments);
        assertThat(status).isZero();
        return out.toString();
    }
}
