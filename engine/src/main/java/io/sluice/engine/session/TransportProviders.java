package io.sluice.engine.session;

import io.sluice.engine.TransportStatus;
import io.sluice.engine.transport.TransportProvider;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/** The transports that there are, whether or not they can be used. To ask for them starts nothing else of the engine. */
public final class TransportProviders {
    private TransportProviders() {}

    static List<TransportProvider> all() {
        List<TransportProvider> providers = new ArrayList<>();
        ServiceLoader.load(TransportProvider.class, TransportProviders.class.getClassLoader())
                .forEach(providers::add);
        return providers;
    }

    /**
     * Which of them can be used here.
     *
     * @return sorted by name
     */
    public static List<TransportStatus> status() {
        return all().stream()
                .map(TransportProvider::status)
                .sorted(Comparator.comparing(TransportStatus::name))
                .toList();
    }
}
