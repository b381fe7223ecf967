package io.sluice.engine.session;

import io.sluice.engine.TransportStatus;
import io.sluice.engine.transport.TransportProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.SortedMap;
import java.util.TreeMap;

/** The transports that there are, whether or not they can be used. To ask for them starts nothing else of the engine. */
public final class TransportProviders {
    private TransportProviders() {}

    static List<TransportProvider> all() {
        List<TransportProvider> providers = new ArrayList<>();
        for (TransportProvider provider :
                ServiceLoader.load(TransportProvider.class, TransportProviders.class.getClassLoader())) {
            providers.add(provider);
        }
        return providers;
    }

    /**
     * Which of them can be used here.
     *
     * @return sorted by name
     */
    public static List<TransportStatus> status() {
        SortedMap<String, TransportStatus> byName = new TreeMap<>();
        for (TransportProvider provider : all()) {
            TransportStatus status = provider.status();
            byName.put(status.name(), status);
        }
        return List.copyOf(byName.values());
    }
}
