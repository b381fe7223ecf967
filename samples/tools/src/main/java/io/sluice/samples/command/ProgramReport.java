package io.sluice.samples.command;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportStatus;
import io.sluice.samples.report.ByteSize;
import io.sluice.samples.report.JsonText;
import java.util.List;
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

    String toJson() {
        return JsonText.of(this);
    }

    String toText() {
        StringBuilder text = new StringBuilder("sluice " + version + "\n\nmachine\n");
        row(text, "kernel", machine.kernel());
        row(text, "processor", shown(machine.cpuModel()));
        row(text, "processors", machine.processors() + ", " + machine.processorsUsable() + " for this process");
        row(text, "memory", size(machine.memoryBytes()));
        row(text, "lockable memory", limit(machine.lockedMemoryLimitBytes()));
        Integer pageBytes = machine.pageBytes();
        row(text, "page size", size(pageBytes == null ? null : pageBytes.longValue()));
        row(text, "JVM", machine.jvm());
        text.append("\ntransports\n");
        for (TransportReport transport : transports) {
            String reason = transport.reason();
            row(text, transport.name(), reason == null ? "available" : "not available: " + reason);
            for (String device : transport.devices()) {
                row(text, "", device);
            }
        }
        return text.toString();
    }

    private static String limit(@Nullable Long bytes) {
        return bytes != null && bytes == MachineReport.NO_LIMIT ? "no limit" : size(bytes);
    }

    private static String size(@Nullable Long bytes) {
        return shown(bytes == null ? null : ByteSize.format(bytes));
    }

    private static String shown(@Nullable String fact) {
        return fact == null ? "unknown" : fact;
    }

    private static void row(StringBuilder text, String label, String value) {
        text.append("  ")
                .append(label)
                .repeat(' ', Math.max(0, LABEL_CHARACTERS - label.length()))
                .append(' ');
        text.append(value).append('\n');
    }

    /**
     * Whether a transport can be used here.
     *
     * @param name as {@code --transport} takes it
     * @param available whether nothing is in the way
     * @param reason why not and what to do, or {@code null}
     * @param devices what it finds to use
     */
    record TransportReport(
            @JsonProperty("name") String name,
            @JsonProperty("available") boolean available,
            @JsonProperty("reason") @Nullable String reason,
            @JsonProperty("devices") List<String> devices) {

        static TransportReport of(TransportStatus status) {
            return new TransportReport(status.name(), status.isAvailable(), status.unavailable(), status.devices());
        }
    }
}
