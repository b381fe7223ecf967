package io.sluice.samples.command;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.engine.TransferEngine;
import io.sluice.samples.report.ByteSize;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What {@code sluice info} shows.
 *
 * @param version of the program
 * @param machine it runs on
 * @param transports it knows
 */
record ProgramReport(
        @JsonProperty("version") String version,
        @JsonProperty("machine") MachineReport machine,
        @JsonProperty("transports") List<TransportReport> transports) {

    private static final int LABEL_CHARACTERS = 16;

    /** This program on this machine. */
    static ProgramReport current() {
        return new ProgramReport(
                ProgramVersion.current(),
                MachineReport.current(),
                TransferEngine.transports().stream().map(TransportReport::of).toList());
    }

    /** As one line of JSON. */
    String toJson() {
        try {
            return new ObjectMapper().writeValueAsString(this);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a report can always be written", e);
        }
    }

    /** For people. */
    String toText() {
        StringBuilder text = new StringBuilder("sluice " + version + "\n\nmachine\n");
        row(text, "kernel", machine.kernel());
        row(text, "processor", shown(machine.cpuModel(), Function.identity()));
        row(text, "processors", machine.processors() + ", " + machine.processorsUsable() + " for this process");
        row(text, "memory", shown(machine.memoryBytes(), ByteSize::format));
        row(text, "lockable memory", shown(machine.lockedMemoryLimitBytes(), ProgramReport::limit));
        row(text, "page size", shown(machine.pageBytes(), bytes -> ByteSize.format(bytes)));
        row(text, "JVM", machine.jvm());
        text.append("\ntransports\n");
        for (TransportReport transport : transports) {
            String reason = transport.reason();
            row(text, transport.name(), reason == null ? "available" : "not available: " + reason);
            transport.devices().forEach(device -> row(text, "", device));
        }
        return text.toString();
    }

    private static String limit(long bytes) {
        return bytes == MachineReport.NO_LIMIT ? "no limit" : ByteSize.format(bytes);
    }

    private static <T> String shown(@Nullable T fact, Function<T, String> text) {
        return fact == null ? "unknown" : text.apply(fact);
    }

    private static void row(StringBuilder text, String label, String value) {
        text.append("  ")
                .append(label)
                .repeat(' ', Math.max(0, LABEL_CHARACTERS - label.length()))
                .append(' ');
        text.append(value).append('\n');
    }
}
