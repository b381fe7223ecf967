package io.sluice.engine.session;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/** Finds the transports. */
final class Transports {
    private Transports() {}

    private static List<TransportProvider> providers() {
        List<TransportProvider> providers = new ArrayList<>();
        ServiceLoader.load(TransportProvider.class, Transports.class.getClassLoader())
                .forEach(providers::add);
        return providers;
    }

    static List<TransportStatus> status() {
        return providers().stream()
                .map(TransportProvider::status)
                .sorted(Comparator.comparing(TransportStatus::name))
                .toList();
    }

    /** Opens those that the options name, or all that are available; in order of preference. */
    static Map<String, Transport> open(EngineOptions options) {
        List<TransportProvider> providers = providers();
        List<TransportProvider> chosen = new ArrayList<>();
        if (options.transports().isEmpty()) {
            providers.stream()
                    .filter(provider -> provider.status().isAvailable())
                    .sorted(Comparator.comparingInt(TransportProvider::preference)
                            .reversed())
                    .forEach(chosen::add);
            if (chosen.isEmpty()) {
                throw new TransportUnavailableException("no transport is available: "
                        + status().stream()
                                .map(status -> status.name() + ": " + status.unavailable())
                                .toList());
            }
        }
        for (String name : options.transports()) {
            TransportProvider provider = providers.stream()
                    .filter(candidate -> candidate.name().equals(name))
                    .findFirst()
                    .orElseThrow(
                            () -> new TransportUnavailableException("there is no transport '" + name + "'; known are "
                                    + providers.stream()
                                            .map(TransportProvider::name)
                                            .sorted()
                                            .toList()));
            TransportStatus status = provider.status();
            if (!status.isAvailable()) {
                throw new TransportUnavailableException(
                        "transport '" + name + "' is not available: " + status.unavailable(), status.cause());
            }
            chosen.add(provider);
        }
        Map<String, Transport> opened = new LinkedHashMap<>();
        chosen.forEach(provider -> opened.put(provider.name(), provider.open(options)));
        return opened;
    }
}
