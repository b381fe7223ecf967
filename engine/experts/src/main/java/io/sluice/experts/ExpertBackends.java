package io.sluice.experts;

import io.sluice.experts.backend.CommBackendProvider;
import io.sluice.experts.sluice.SluiceBackendProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** The communication back ends that there are. */
final class ExpertBackends {
    private static final String VARIABLE = "SLUICE_COMM_BACKEND";

    private ExpertBackends() {}

    /**
     * Returns the provider that the options, else the environment, name.
     *
     * @throws BackendUnavailableException if there is none of that name
     */
    static CommBackendProvider of(ExpertOptions options) {
        return of(options, System.getenv(VARIABLE));
    }

    /** The same where the environment names this one, or none. */
    static CommBackendProvider of(ExpertOptions options, @Nullable String inEnvironment) {
        String chosen = options.backend();
        String named = chosen == null ? inEnvironment : chosen;
        return of(named == null || named.isBlank() ? SluiceBackendProvider.NAME : named.strip());
    }

    private static CommBackendProvider of(String name) {
        List<String> names = new ArrayList<>(List.of(SluiceBackendProvider.NAME));
        if (name.equals(SluiceBackendProvider.NAME)) {
            return new SluiceBackendProvider();
        }
        for (CommBackendProvider provider :
                ServiceLoader.load(CommBackendProvider.class, CommBackendProvider.class.getClassLoader())) {
            if (provider.name().equals(name)) {
                return provider;
            }
            names.add(provider.name());
        }
        throw new BackendUnavailableException(
                "there is no communication back end '" + name + "'; there are " + String.join(", ", names));
    }
}
