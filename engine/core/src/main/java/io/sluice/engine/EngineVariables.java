package io.sluice.engine;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the engine's settings out of environment variables. */
final class EngineVariables {
    private static final String PREFIX = "SLUICE_";
    private static final Set<String> SECRETS = Set.of("SLUICE_TOKEN", TlsVariables.PASSWORD);

    private EngineVariables() {}

    /** Whether any variable is for an engine or its transports. */
    static boolean has(Map<String, String> variables) {
        return variables.keySet().stream().anyMatch(name -> name.startsWith(PREFIX));
    }

    /** The variables that transports may read, added to those known before. Secrets are kept in their settings alone. */
    static Map<String, String> withoutSecrets(Map<String, String> known, Map<String, String> variables) {
        Map<String, String> kept = new HashMap<>(known);
        variables.forEach((name, value) -> {
            if (name.startsWith(PREFIX) && !SECRETS.contains(name)) {
                kept.put(name, value);
            }
        });
        return Map.copyOf(kept);
    }

    /**
     * Sets each setting whose variable is set.
     *
     * @param before the settings of TLS until now, to which its flags apply
     */
    static void read(Environment from, @Nullable TlsOptions before, EngineOptions.Builder builder) {
        from.text("SLUICE_NAME", builder::name);
        from.address("SLUICE_LISTEN", builder::listen, builder::noListener);
        from.address("SLUICE_ADVERTISE", builder::advertise, null);
        from.text(
                "SLUICE_TRANSPORTS",
                value -> builder.transports(
                        value.equals("auto")
                                ? List.of()
                                : Arrays.stream(value.split(","))
                                        .map(String::strip)
                                        .toList()));
        from.number("SLUICE_POLLERS", builder::pollers);
        from.number("SLUICE_WINDOW_OPERATIONS", builder::windowOperations);
        from.size("SLUICE_WINDOW_BYTES", builder::windowBytes);
        from.number("SLUICE_ENGINE_WINDOW_OPERATIONS", builder::engineWindowOperations);
        from.size("SLUICE_ENGINE_WINDOW_BYTES", builder::engineWindowBytes);
        from.number("SLUICE_MAX_PENDING", builder::maxPending);
        from.number("SLUICE_MAX_CONNECTIONS", builder::maxConnections);
        from.number("SLUICE_MAX_HANDSHAKES_PER_SECOND", builder::maxHandshakesPerSecond);
        from.number("SLUICE_MAX_HALF_OPEN", builder::maxHalfOpen);
        from.time("SLUICE_HANDSHAKE_TIMEOUT", builder::handshakeTimeout);
        from.number("SLUICE_MAX_SERVED_REQUESTS", builder::maxServedRequests);
        from.size("SLUICE_SERVED_WINDOW_BYTES", builder::servedWindowBytes);
        from.number("SLUICE_LANES", builder::lanes);
        from.time("SLUICE_LIVENESS_TIMEOUT", builder::livenessTimeout);
        from.time("SLUICE_CONNECT_TIMEOUT", builder::connectTimeout);
        from.number("SLUICE_NOTIFICATION_CREDITS", builder::notificationCredits);
        from.size("SLUICE_MAX_NOTIFICATION_BYTES", bytes -> builder.maxNotificationBytes(Math.toIntExact(bytes)));
        from.number("SLUICE_MAX_ATTACHED_REGIONS", builder::maxAttachedRegions);
        from.time("SLUICE_SPIN", builder::spin);
        from.time("SLUICE_YIELD", builder::yield);
        from.time("SLUICE_STALL_THRESHOLD", builder::stallThreshold);
        from.time("SLUICE_SLOW_TRANSFER", builder::slowTransfer);
        from.time("SLUICE_PRIORITY_AGING", builder::priorityAging);
        from.text("SLUICE_INTEGRITY", value -> builder.integrity(integrity(value)));
        from.size("SLUICE_SOCKET_BUFFER_BYTES", bytes -> builder.socketBufferBytes(Math.toIntExact(bytes)));
        from.secret("SLUICE_TOKEN", builder::token);
        from.text("SLUICE_TOKEN_FILE", file -> {
            if (from.has("SLUICE_TOKEN")) {
                throw new IllegalArgumentException("SLUICE_TOKEN is set as well; take one of the two away");
            }
            builder.tokenFile(Path.of(file));
        });
        TlsVariables.read(from, before, builder::tls);
        from.flag("SLUICE_ALLOW_UNAUTHENTICATED_PEERS", builder::allowUnauthenticatedPeers);
    }

    private static Integrity integrity(String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "none" -> Integrity.NONE;
            case "crc32c" -> Integrity.CRC32C;
            default -> throw new IllegalArgumentException("'" + value + "' is neither none nor crc32c");
        };
    }
}
