package io.sluice.engine.providers;

import io.sluice.engine.transport.TransportProvider;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The names of all environment variables of this project, and warnings about unknown ones. Thread-safe. */
public final class VariableNames {
    private static final Logger LOG = LoggerFactory.getLogger(VariableNames.class);

    public static final String PREFIX = "SLUICE_";

    /** Read by the engine and the transports in it. */
    static final List<String> OF_ENGINE = Stream.of(
                    "ADVERTISE",
                    "ALLOW_UNAUTHENTICATED_PEERS",
                    "CONNECT_TIMEOUT",
                    "ENGINE_WINDOW_BYTES",
                    "ENGINE_WINDOW_OPERATIONS",
                    "HANDSHAKE_TIMEOUT",
                    "INTEGRITY",
                    "LANES",
                    "LISTEN",
                    "LIVENESS_TIMEOUT",
                    "MAX_ATTACHED_REGIONS",
                    "MAX_CONNECTIONS",
                    "MAX_HALF_OPEN",
                    "MAX_HANDSHAKES_PER_SECOND",
                    "MAX_NOTIFICATION_BYTES",
                    "MAX_PENDING",
                    "MAX_SERVED_REQUESTS",
                    "NAME",
                    "NOTIFICATION_CREDITS",
                    "POLLERS",
                    "PRIORITY_AGING",
                    "SERVED_WINDOW_BYTES",
                    "SHM_CALLER_THREAD_BYTES",
                    "SHM_CROSS_MEMORY_ATTACH",
                    "SHM_DIRECTORY",
                    "SHM_HUGE_PAGES",
                    "SHM_PREFAULT",
                    "SHM_TRUST_HUGE_PAGES",
                    "SLOW_TRANSFER",
                    "SOCKET_BUFFER_BYTES",
                    "SPIN",
                    "STALL_THRESHOLD",
                    "TLS_CERT",
                    "TLS_DATA",
                    "TLS_KEY",
                    "TLS_KEYSTORE",
                    "TLS_KEYSTORE_PASSWORD",
                    "TLS_TRUST",
                    "TLS_VERIFY_HOST",
                    "TOKEN",
                    "TOKEN_FILE",
                    "TRANSPORTS",
                    "VERBS_DEVICES",
                    "VERBS_GID_INDEX",
                    "VERBS_HOP_LIMIT",
                    "VERBS_MINIMUM_RNR_TIMER",
                    "VERBS_NEAR",
                    "VERBS_ON_DEMAND_PAGING",
                    "VERBS_PARTITION_KEY_INDEX",
                    "VERBS_PATH_MTU",
                    "VERBS_READ_DEPTH",
                    "VERBS_RELAXED_ORDERING",
                    "VERBS_RETRIES",
                    "VERBS_RNR_RETRIES",
                    "VERBS_SEND_DEPTH",
                    "VERBS_SERVICE_LEVEL",
                    "VERBS_TIMEOUT",
                    "VERBS_TRAFFIC_CLASS",
                    "WINDOW_BYTES",
                    "WINDOW_OPERATIONS",
                    "YIELD")
            .map(PREFIX::concat)
            .toList();

    /** Read by the transport for memory of GPUs, which is a module above this. */
    static final List<String> OF_CUDA = Stream.of(
                    "CUDA_BLOCKS", "CUDA_COPY_ENGINES", "CUDA_MAPPED", "CUDA_STAGED_CHUNK", "CUDA_STAGING_BYTES")
            .map(PREFIX::concat)
            .toList();

    /** Read by expert buffers, which are in a module above this. */
    static final List<String> OF_EXPERTS = List.of(PREFIX + "COMM_BACKEND");

    /** Read by what carries expert buffers, and transfers of GPU memory, over other libraries. */
    static final List<String> OF_BACKENDS = Stream.of("COMM_GPU", "NCCL_GPU", "NCCL_LIBRARY", "NVSHMEM_LIBRARY")
            .map(PREFIX::concat)
            .toList();

    /** Read by the command line and what starts it. */
    private static final List<String> OF_PROGRAMS = Stream.of(
                    "AOT", "CACHE", "JAVA_HOME", "JAVA_OPTIONS", "LOG_LEVEL", "NO_INSTALL", "PEERS")
            .map(PREFIX::concat)
            .toList();

    /** Transports of this project, whose variables are all known. */
    private static final Set<String> OWN_TRANSPORTS = Set.of("shm", "tcp", "verbs", "cuda", "nccl");

    /** Kubernetes gives these to every container, for each service whose name begins with "sluice-". */
    private static final Pattern OF_KUBERNETES = Pattern.compile(".*_(SERVICE_(HOST|PORT(_.*)?)|PORT(_\\d+_.*)?)");

    private static final Pattern PRINTABLE = Pattern.compile("[A-Za-z0-9_]{1,100}");
    private static final Set<String> SAID = ConcurrentHashMap.newKeySet();

    private VariableNames() {}

    /**
     * Warns of each variable that nothing reads, once in this process.
     *
     * @param names of variables that begin with {@link #PREFIX}
     */
    public static void warn(Collection<String> names) {
        for (String name : names) {
            if (isUnknown(name) && !SAID.contains(name) && !isOfAnotherTransport(name) && SAID.add(name)) {
                LOG.warn(
                        "the environment variable {} is not known, and has no effect{}",
                        name,
                        nearest(name)
                                .map(known -> ": is it meant to be " + known + "?")
                                .orElse(""));
            }
        }
    }

    static boolean isUnknown(String name) {
        return PRINTABLE.matcher(name).matches()
                && known().noneMatch(name::equals)
                && !OF_KUBERNETES.matcher(name).matches();
    }

    private static Stream<String> known() {
        return Stream.of(OF_ENGINE, OF_CUDA, OF_EXPERTS, OF_BACKENDS, OF_PROGRAMS)
                .flatMap(List::stream);
    }

    private static boolean isOfAnotherTransport(String name) {
        return TransportProviders.all().stream()
                .map(TransportProvider::name)
                .filter(transport -> !OWN_TRANSPORTS.contains(transport))
                .anyMatch(transport -> name.startsWith(
                        PREFIX + transport.toUpperCase(Locale.ROOT).replace('-', '_') + "_"));
    }

    /** Returns the known name with the fewest differences, if a typing error or truncation can explain them. */
    static Optional<String> nearest(String name) {
        String upper = name.toUpperCase(Locale.ROOT);
        int slips = Math.max(2, (upper.length() - PREFIX.length()) / 3);
        return known().filter(known -> known.startsWith(upper) || distance(upper, known) <= slips)
                .min(Comparator.comparingInt(known -> distance(upper, known)));
    }

    /** Returns the edit distance of two texts. */
    static int distance(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int changed = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[to.length()];
    }
}
