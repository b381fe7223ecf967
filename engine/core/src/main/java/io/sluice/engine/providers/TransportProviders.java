package io.sluice.engine.providers;

import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.transport.TransportProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.SortedMap;
import java.util.TreeMap;

/** The transports that there are, whether or not they can be used. To ask for them starts nothing else of the engine. */
public final class TransportProviders {
    private TransportProviders() {}

    static List<TransportProvider> all() {
        List<TransportProvider> providers = new ArrayList<>();
        try {
            for (TransportProvider provider :
                    ServiceLoader.load(TransportProvider.class, TransportProviders.class.getClassLoader())) {
                providers.add(provider);
            }
        } catch (ServiceConfigurationError e) {
            Throwable cause = e.getCause();
            throw new SluiceException(
                    "cannot look up the transports: " + e.getMessage()
                            + (cause == null ? "" : ": " + cause.getMessage())
                            + "; correct META-INF/services in the jar that it names, or, if too many files are open,"
                            + " raise their limit (ulimit -n)",
                    e);
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
