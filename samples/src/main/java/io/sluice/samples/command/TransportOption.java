package io.sluice.samples.command;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportStatus;
import io.sluice.metrics.FlightRecorderObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** The option that names transports. */
final class TransportOption {

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            split = ",",
            description = {
                "The transports to use, the most preferred first, separated by commas.",
                "Default: the best that both sides have. 'sluice info' lists them.",
                "Those that are not available here are left out. On verbs, SLUICE_VERBS_DEVICES",
                "names the devices."
            })
    private List<String> names = new ArrayList<>();

    /** The names, none for the default. */
    List<String> names() {
        return names;
    }

    /**
     * Options from the environment, with these transports if any are named.
     *
     * @throws CommandFailure if a transport is not known or not available, or a variable cannot be read
     */
    EngineOptions.Builder engineOptions() {
        EngineOptions.Builder options;
        try {
            options = EngineOptions.builder().environment(System.getenv()).observer(new FlightRecorderObserver());
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(e);
        }
        if (!names.isEmpty()) {
            List<TransportStatus> known = TransferEngine.transports();
            List<TransportStatus> named =
                    names.stream().map(name -> find(name, known)).toList();
            if (named.stream().noneMatch(TransportStatus::isAvailable)) {
                throw CommandFailure.failed(named.stream()
                        .map(status -> "transport " + status.name() + " is not available here: " + status.unavailable())
                        .collect(Collectors.joining("; ")));
            }
            options.transports(names);
        }
        return options;
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
