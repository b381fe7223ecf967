package io.sluice.engine.providers;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.TransportProvider;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The transports of an engine, in order of preference, and why it has no others. */
public final class Transports implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Transports.class);
    private static final int MAX_LACKING_CHARACTERS = 400;
    private static final String WITHOUT_COMPLEMENT =
            "nothing on the class path or module path has it, and the transport '%s' leaves part of its memory to it: add the"
                    + " artifact sluice-%s";

    private final Map<String, OpenTransport> opened = new LinkedHashMap<>();
    private final List<TransportStatus> lacking = new ArrayList<>();
    // those that were opened for what another does not reach, and are never a connection's first
    private final Set<String> complements = new HashSet<>();

    private Transports() {}

    /**
     * Opens the transports that the options name, or all; in order of preference. Unavailable ones are left out if any
     * other is available.
     */
    public static Transports open(EngineOptions options) {
        Transports made = new Transports();
        try {
            List<TransportProvider> chosen = chosen(options);
            ToLongFunction<String> distances = adapter -> chosen.stream()
                    .mapToLong(provider -> provider.distanceTo(adapter))
                    .min()
                    .orElse(Long.MAX_VALUE);
            for (TransportProvider provider : chosen) {
                made.tryOpen(provider, options, distances);
            }
            made.openComplements(options, distances);
            made.shareStaged();
            if (made.opened.isEmpty()) {
                throw new TransportUnavailableException(
                        "no transport is available: " + describe(made.lacking), cause(made.lacking));
            }
        } catch (RuntimeException | Error e) {
            made.close();
            throw e;
        }
        if (!options.transports().isEmpty() && !made.lacking.isEmpty()) {
            LOG.warn("continuing with only {}: {}", made.names(), describe(made.lacking));
        }
        return made;
    }

    private static List<TransportProvider> chosen(EngineOptions options) {
        List<TransportProvider> providers = TransportProviders.all();
        if (options.transports().isEmpty()) {
            return providers.stream()
                    .filter(provider -> !provider.byNameOnly())
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

    private void openComplements(EngineOptions options, ToLongFunction<String> distances) {
        for (OpenTransport each : List.copyOf(opened.values())) {
            String complement = each.transport().complement();
            if (complement != null && !opened.containsKey(complement)) {
                complements.add(complement);
                TransportProviders.all().stream()
                        .filter(provider -> provider.name().equals(complement))
                        .findFirst()
                        .ifPresentOrElse(
                                provider -> tryOpen(provider, options, distances),
                                () -> lacking.add(new TransportStatus(
                                        complement, WITHOUT_COMPLEMENT.formatted(each.name(), complement), null)));
            }
        }
    }

    /** Lets transports that carry staged memory carry that of the others. */
    private void shareStaged() {
        Map<MemoryKind, Long> kinds = new EnumMap<>(MemoryKind.class);
        for (OpenTransport each : opened.values()) {
            kinds.putAll(each.transport().staged());
        }
        for (OpenTransport each : opened.values()) {
            if (each.transport().carriesStaged()) {
                Map<MemoryKind, Long> carried = new EnumMap<>(kinds);
                carried.keySet().removeAll(each.transport().memory().register());
                each.carry(carried);
            }
        }
    }

    private void tryOpen(TransportProvider provider, EngineOptions options, ToLongFunction<String> distances) {
        TransportStatus status = provider.status();
        if (status.isAvailable()) {
            try {
                opened.put(
                        provider.name(),
                        new OpenTransport(provider.name(), opened.size(), provider.open(options, distances)));
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

    /** All transports, including those that connections use only for additional paths. */
    public Collection<OpenTransport> all() {
        return opened.values();
    }

    /** The names of those that may be a connection's first. */
    public Collection<String> names() {
        return opened.keySet().stream()
                .filter(name -> !complements.contains(name))
                .toList();
    }

    public @Nullable OpenTransport get(String name) {
        return opened.get(name);
    }

    /** The reach of each transport, for the peer; a line each. */
    public String reach() {
        return opened.values().stream()
                .filter(each -> !each.transport().reach().isEmpty())
                .map(each -> each.name() + "=" + each.transport().reach())
                .collect(Collectors.joining("\n"));
    }

    /**
     * The first that a peer offers and is within reach of, or null.
     *
     * @param severalPaths whether the peer supports several paths
     */
    public @Nullable String choose(Collection<String> offered, String peerReach, boolean severalPaths) {
        for (OpenTransport each : opened.values()) {
            if (offered.contains(each.name())
                    && !complements.contains(each.name())
                    && (severalPaths || !isPartial(each))
                    && whyOutOfReach(each, peerReach) == null) {
                return each.name();
            }
        }
        return null;
    }

    /** Whether a transport does not reach all memory of the host, so that a connection needs a second path. */
    public static boolean isPartial(OpenTransport transport) {
        return transport.transport().partial().contains(MemoryKind.HOST);
    }

    /**
     * The transports of a connection's paths, in order: its first, and each further one that reaches memory which those
     * before it do not.
     *
     * @param offered what the peer can have paths over
     * @param refusing the transports that have refused memory at the peer, which only others reach
     * @param most how many there may be
     */
    public List<OpenTransport> paths(
            OpenTransport first, Collection<String> offered, String peerReach, Collection<String> refusing, int most) {
        List<OpenTransport> paths = new ArrayList<>(List.of(first));
        BitSet reached = reach(first, refusing);
        for (OpenTransport each : opened.values()) {
            BitSet more = pairs(each, each.transport().memory().register());
            more.andNot(reached);
            if (!more.isEmpty()
                    && paths.size() < most
                    && !each.equals(first)
                    && offered.contains(each.name())
                    && whyOutOfReach(each, peerReach) == null) {
                paths.add(each);
                reached.or(reach(each, refusing));
            }
        }
        for (OpenTransport each : opened.values()) {
            if (stagesMore(each, reached)
                    && paths.size() < most
                    && paths.stream().noneMatch(path -> path.transport().carriesStaged())
                    && offered.contains(each.name())
                    && whyOutOfReach(each, peerReach) == null) {
                paths.add(each);
            }
        }
        return List.copyOf(paths);
    }

    /** Whether a transport carries a kind of memory staged that is not reached directly. */
    private static boolean stagesMore(OpenTransport transport, BitSet reached) {
        for (MemoryKind kind : MemoryKind.values()) {
            if (transport.stages(kind) && !reached.get(pair(kind, kind))) {
                return true;
            }
        }
        return false;
    }

    private static int pair(MemoryKind remote, MemoryKind local) {
        return remote.ordinal() * MemoryKind.values().length + local.ordinal();
    }

    /** The memory that a transport is certain to reach. */
    private static BitSet reach(OpenTransport transport, Collection<String> refusing) {
        if (transport.isRefusing() || refusing.contains(transport.name())) {
            return new BitSet();
        }
        Set<MemoryKind> whole = EnumSet.noneOf(MemoryKind.class);
        whole.addAll(transport.transport().memory().register());
        whole.removeAll(transport.transport().partial());
        return pairs(transport, whole);
    }

    /** From which local memory it reaches which of the peer's. */
    private static BitSet pairs(OpenTransport transport, Set<MemoryKind> remote) {
        BitSet pairs = new BitSet();
        for (MemoryKind to : remote) {
            for (MemoryKind from : transport.transport().memory().access()) {
                pairs.set(pair(to, from));
            }
        }
        return pairs;
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
