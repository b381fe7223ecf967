package io.sluice.engine.providers;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.TransportProvider;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The transports of an engine, in order of preference, and why it has no others. */
public final class Transports implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Transports.class);
    private static final int MAX_LACKING_CHARACTERS = 400;

    private final Map<String, OpenTransport> opened = new LinkedHashMap<>();
    private final List<TransportStatus> lacking = new ArrayList<>();

    private Transports() {}

    /**
     * Opens those that the options name, or all; in order of preference. What is not available is left out if something
     * else is.
     */
    public static Transports open(EngineOptions options) {
        Transports made = new Transports();
        try {
            for (TransportProvider provider : chosen(options)) {
                made.tryOpen(provider, options);
            }
            if (made.opened.isEmpty()) {
                throw new TransportUnavailableException(
                        "no transport is available: " + describe(made.lacking), cause(made.lacking));
            }
        } catch (RuntimeException | Error e) {
            made.close();
            throw e;
        }
        if (!options.transports().isEmpty() && !made.lacking.isEmpty()) {
            LOG.warn("going on with {} alone: {}", made.names(), describe(made.lacking));
        }
        return made;
    }

    private static List<TransportProvider> chosen(EngineOptions options) {
        List<TransportProvider> providers = TransportProviders.all();
        if (options.transports().isEmpty()) {
            return providers.stream()
                    .sorted(Comparator.comparingInt(TransportProvider::preference)
                            .reversed())
                    .toList();
        }
        return options.transports().stream()
                .distinct()
                .map(name -> providers.stream()
                        .filter(candidate -> candidate.name().equals(name))
                        .findFirst()
                        .orElseThrow(() -> new TransportUnavailableException("there is no transport '" + name
                                + "'; known are "
                                + providers.stream()
                                        .map(TransportProvider::name)
                                        .sorted()
                                        .toList())))
                .toList();
    }

    private void tryOpen(TransportProvider provider, EngineOptions options) {
        TransportStatus status = provider.status();
        if (status.isAvailable()) {
            try {
                opened.put(provider.name(), new OpenTransport(provider.name(), opened.size(), provider.open(options)));
                return;
            } catch (TransportUnavailableException e) {
                status = new TransportStatus(provider.name(), String.valueOf(e.getMessage()), e);
            }
        }
        lacking.add(status);
    }

    private static String describe(List<TransportStatus> lacking) {
        return lacking.stream()
                .map(status -> "transport '" + status.name() + "' is not available: " + status.unavailable())
                .collect(Collectors.joining("; "));
    }

    private static @Nullable Throwable cause(List<TransportStatus> lacking) {
        return lacking.stream()
                .map(TransportStatus::cause)
                .filter(cause -> cause != null)
                .findFirst()
                .orElse(null);
    }

    public Collection<OpenTransport> all() {
        return opened.values();
    }

    public Collection<String> names() {
        return opened.keySet();
    }

    public @Nullable OpenTransport get(String name) {
        return opened.get(name);
    }

    /** Where each can be reached from, for the peer; a line each. */
    public String reach() {
        return opened.values().stream()
                .filter(each -> !each.transport().reach().isEmpty())
                .map(each -> each.name() + "=" + each.transport().reach())
                .collect(Collectors.joining("\n"));
    }

    /** The first that a peer offers and is within reach of, or null. */
    public @Nullable String choose(Collection<String> offered, String peerReach) {
        for (OpenTransport each : opened.values()) {
            if (offered.contains(each.name()) && whyOutOfReach(each, peerReach) == null) {
                return each.name();
            }
        }
        return null;
    }

    /** Why a peer cannot be reached by a transport, or null if it perhaps can. */
    public static @Nullable String whyOutOfReach(OpenTransport transport, String peerReach) {
        String prefix = transport.name() + "=";
        String peers = peerReach
                .lines()
                .filter(line -> line.startsWith(prefix))
                .map(line -> line.substring(prefix.length()))
                .findFirst()
                .orElse("");
        return transport.transport().whyOutOfReach(peers);
    }

    /** Why this engine has no more transports, in short, for its peers' logs; empty if it has all. */
    public String lacking() {
        String text = describe(lacking);
        return text.length() <= MAX_LACKING_CHARACTERS ? text : text.substring(0, MAX_LACKING_CHARACTERS) + "…";
    }

    /** Whether one of them is not available here. */
    public boolean lacksAnyOf(Collection<String> names) {
        return lacking.stream().map(TransportStatus::name).anyMatch(names::contains);
    }

    @Override
    public void close() {
        opened.values().forEach(each -> each.transport().close());
    }
}
