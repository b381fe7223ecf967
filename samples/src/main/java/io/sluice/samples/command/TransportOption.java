package io.sluice.samples.command;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportStatus;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The option that names transports. */
final class TransportOption {

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            split = ",",
            description = {
                "The transports to use, the most preferred first, separated by commas.",
                "Default: the best that both sides have. 'sluice info' lists them."
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
            options = EngineOptions.builder().environment(System.getenv());
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(e);
        }
        if (!names.isEmpty()) {
            List<TransportStatus> known = TransferEngine.transports();
            names.forEach(name -> check(name, known));
            options.transports(names);
        }
        return options;
    }

    private static void check(String name, List<TransportStatus> known) {
        TransportStatus status = known.stream()
                .filter(transport -> transport.name().equals(name))
                .findFirst()
                .orElseThrow(() -> CommandFailure.usage("unknown transport '" + name + "'; known transports: "
                        + String.join(
                                ", ", known.stream().map(TransportStatus::name).toList())));
        if (!status.isAvailable()) {
            throw CommandFailure.failed("transport " + name + " is not available here: " + status.unavailable());
        }
    }
}
