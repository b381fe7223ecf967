package io.sluice.samples.command;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportStatus;
import io.sluice.metrics.FlightRecorderObserver;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
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

    /** The options by which engines prove to each other who they are; each takes the place of a variable. */
    static final class SecurityOption {
        private static final String DATA = "--tls-data";

        @Option(names = "--token-file", paramLabel = "FILE")
        private @Nullable Path tokens;

        @Option(names = "--tls-cert", paramLabel = "FILE")
        private @Nullable Path certificates;

        @Option(names = "--tls-key", paramLabel = "FILE")
        private @Nullable Path key;

        @Option(names = "--tls-trust", paramLabel = "FILE")
        private @Nullable Path trusted;

        @Option(names = DATA)
        private boolean data;

        /** The variables, and the values given in the place of some. */
        Map<String, String> over(Map<String, String> variables) {
            Map<String, String> all = new HashMap<>(variables);
            if (tokens != null) {
                all.remove("SLUICE_TOKEN");
            }
            if (certificates != null) {
                all.remove("SLUICE_TLS_KEYSTORE");
            }
            given().forEach((option, value) ->
                    all.put("SLUICE_" + option.substring(2).replace('-', '_').toUpperCase(Locale.ROOT), value));
            return all;
        }

        /** The same options for the command line of another process. */
        List<String> arguments() {
            List<String> arguments = new ArrayList<>();
            given().forEach((option, value) -> {
                arguments.add(option);
                if (!option.equals(DATA)) {
                    arguments.add(value);
                }
            });
            return arguments;
        }

        private Map<String, String> given() {
            Map<String, String> given = new HashMap<>();
            put(given, "--token-file", tokens);
            put(given, "--tls-cert", certificates);
            put(given, "--tls-key", key);
            put(given, "--tls-trust", trusted);
            put(given, DATA, data ? "true" : null);
            return given;
        }

        private static void put(Map<String, String> given, String option, @Nullable Object value) {
            if (value != null) {
                given.put(option, value.toString());
            }
        }
    }
}
