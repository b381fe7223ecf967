package io.sluice.samples.command;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportStatus;
import io.sluice.metrics.FlightRecorderObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of commands that have an engine: its transports, how it authenticates, and what checks the bytes. */
final class TransportOption {
    @Option(names = "--transport", paramLabel = "NAME", split = ",")
    private List<String> names = new ArrayList<>();

    @Option(names = "--integrity", paramLabel = "CHECK")
    private @Nullable String integrity;

    @Mixin
    private final SecurityOption security = new SecurityOption();

    /** The variables of this process, and what the command line says in the place of some. */
    Map<String, String> variables() {
        Map<String, String> variables = security.over(System.getenv());
        if (integrity != null) {
            variables.put("SLUICE_INTEGRITY", integrity);
        }
        if (!names.isEmpty()) {
            variables.put("SLUICE_TRANSPORTS", String.join(",", names));
        }
        return variables;
    }

    /** The options that another process needs to have an engine of the same settings; it has the same variables. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>(security.arguments());
        if (integrity != null) {
            arguments.addAll(List.of("--integrity", integrity));
        }
        if (!names.isEmpty()) {
            arguments.addAll(List.of("--transport", String.join(",", names)));
        }
        return arguments;
    }

    /**
     * Options from the environment, with these transports if any are named.
     *
     * @throws CommandFailure if a transport is not known or not available, or a variable cannot be read
     */
    EngineOptions.Builder engineOptions() {
        ProgramCommand.require(
                integrity == null || integrity.equals("none") || integrity.equals("crc32c"),
                "--integrity is none or crc32c, not '" + integrity + "'");
        if (!names.isEmpty()) {
            List<TransportStatus> known = TransferEngine.transports();
            List<TransportStatus> named =
                    names.stream().map(name -> find(name, known)).toList();
            if (named.stream().noneMatch(TransportStatus::isAvailable)) {
                throw CommandFailure.failed(named.stream()
                        .map(status -> "transport " + status.name() + " is not available here: " + status.unavailable())
                        .collect(Collectors.joining("; ")));
            }
        }
        try {
            return EngineOptions.builder().environment(variables()).observer(new FlightRecorderObserver());
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(e);
        }
    }

    private static TransportStatus find(String name, List<TransportStatus> known) {
        return known.stream()
                .filter(transport -> transport.name().equals(name))
                .findFirst()
                .orElseThrow(() -> CommandFailure.usage("unknown transport '" + name + "'; known transports: "
                        + String.join(
                                ", ", known.stream().map(TransportStatus::name).toList())));
    }
}
