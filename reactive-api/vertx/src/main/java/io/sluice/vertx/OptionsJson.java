package io.sluice.vertx;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The JSON form of {@link TransferClientOptions}. */
final class OptionsJson {
    private static final String TOKEN = "token";

    /** In the order in which they are read: what needs another comes after it. */
    private static final List<Property> PROPERTIES = List.of(
            new Property(
                    "shared", options -> options.isShared(), (options, value) -> options.setShared((Boolean) value)),
            new Property("name", options -> options.getName(), (options, value) -> options.setName((String) value)),
            new Property(
                    "stagingBytes",
                    options -> options.getStagingBytes(),
                    (options, value) -> options.setStagingBytes(whole(value))),
            new Property(
                    "stagingSlotBytes",
                    options -> options.getStagingSlotBytes(),
                    (options, value) -> options.setStagingSlotBytes(Math.toIntExact(whole(value)))),
            new Property(
                    "metricsEnabled",
                    options -> options.isMetricsEnabled(),
                    (options, value) -> options.setMetricsEnabled((Boolean) value)),
            new Property(
                    "metricsRegistryName",
                    options -> options.getMetricsRegistryName(),
                    (options, value) -> options.setMetricsRegistryName((String) value)),
            new Property(
                    "metricsPeers",
                    options -> options.getMetricsPeers(),
                    (options, value) -> options.setMetricsPeers(Math.toIntExact(whole(value)))),
            new Property(
                    "engineName",
                    options -> options.getEngineName(),
                    (options, value) -> options.setEngineName((String) value)),
            new Property(
                    "listenHost",
                    options -> options.getListenHost(),
                    (options, value) -> options.setListenHost((String) value)),
            new Property(
                    "listenPort",
                    options -> options.getListenPort(),
                    (options, value) -> options.setListenPort(Math.toIntExact(whole(value)))),
            new Property("listening", options -> options.getListenHost() != null, OptionsJson::listening),
            new Property(
                    "advertisedHost",
                    options -> options.getAdvertisedHost(),
                    (options, value) -> options.setAdvertisedHost((String) value)),
            new Property(
                    "advertisedPort",
                    options -> options.getAdvertisedHost() == null ? null : options.getAdvertisedPort(),
                    (options, value) -> options.setAdvertisedPort(Math.toIntExact(whole(value)))),
            new Property(
                    "transports",
                    options -> new JsonArray(options.getTransports()),
                    (options, value) -> options.setTransports(texts(value))),
            new Property(
                    "pollers",
                    options -> options.getPollers(),
                    (options, value) -> options.setPollers(Math.toIntExact(whole(value)))),
            new Property(
                    "windowOperations",
                    options -> options.getWindowOperations(),
                    (options, value) -> options.setWindowOperations(Math.toIntExact(whole(value)))),
            new Property(
                    "windowBytes",
                    options -> options.getWindowBytes(),
                    (options, value) -> options.setWindowBytes(whole(value))),
            new Property(
                    "engineWindowOperations",
                    options -> options.getEngineWindowOperations(),
                    (options, value) -> options.setEngineWindowOperations(Math.toIntExact(whole(value)))),
            new Property(
                    "engineWindowBytes",
                    options -> options.getEngineWindowBytes(),
                    (options, value) -> options.setEngineWindowBytes(whole(value))),
            new Property(
                    "maxPending",
                    options -> options.getMaxPending(),
                    (options, value) -> options.setMaxPending(Math.toIntExact(whole(value)))),
            new Property(
                    "maxConnections",
                    options -> options.getMaxConnections(),
                    (options, value) -> options.setMaxConnections(Math.toIntExact(whole(value)))),
            new Property(
                    "lanes",
                    options -> options.getLanes(),
                    (options, value) -> options.setLanes(Math.toIntExact(whole(value)))),
            new Property(
                    "notificationCredits",
                    options -> options.getNotificationCredits(),
                    (options, value) -> options.setNotificationCredits(Math.toIntExact(whole(value)))),
            new Property(
                    "maxNotificationBytes",
                    options -> options.getMaxNotificationBytes(),
                    (options, value) -> options.setMaxNotificationBytes(Math.toIntExact(whole(value)))),
            new Property(
                    "maxAttachedRegions",
                    options -> options.getMaxAttachedRegions(),
                    (options, value) -> options.setMaxAttachedRegions(Math.toIntExact(whole(value)))),
            new Property(
                    "livenessTimeout",
                    options -> options.getLivenessTimeout(),
                    (options, value) -> options.setLivenessTimeout(whole(value))),
            new Property(
                    "connectTimeout",
                    options -> options.getConnectTimeout(),
                    (options, value) -> options.setConnectTimeout(whole(value))),
            new Property(
                    "allowUnauthenticatedPeers",
                    options -> options.isAllowUnauthenticatedPeers(),
                    (options, value) -> options.setAllowUnauthenticatedPeers((Boolean) value)));

    private OptionsJson() {}

    private record Property(
            String key,
            Function<TransferClientOptions, @Nullable Object> getter,
            BiConsumer<TransferClientOptions, Object> setter) {}

    static JsonObject write(TransferClientOptions options) {
        JsonObject json = new JsonObject();
        for (Property property : PROPERTIES) {
            Object value = property.getter().apply(options);
            if (value != null) {
                json.put(property.key(), value);
            }
        }
        return json;
    }

    static void read(JsonObject json, TransferClientOptions options) {
        for (Property property : PROPERTIES) {
            Object value = json.getValue(property.key());
            if (value != null) {
                set(options, property, value);
            }
        }
        Object token = json.getValue(TOKEN);
        if (token != null) {
            if (!(token instanceof String secret)) {
                // without the value, which is a secret
                throw new IllegalArgumentException(TOKEN + " is a string");
            }
            options.setToken(secret);
        }
    }

    private static void set(TransferClientOptions options, Property property, Object value) {
        try {
            property.setter().accept(options, value);
        } catch (ClassCastException | ArithmeticException e) {
            throw new IllegalArgumentException(property.key() + " cannot be " + value, e);
        }
    }

    /** {@code false} alone says something; where it listens the host and port say. */
    private static void listening(TransferClientOptions options, Object value) {
        if (!((Boolean) value)) {
            options.setListenHost(null);
        }
    }

    private static long whole(Object value) {
        if (value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte) {
            return ((Number) value).longValue();
        }
        throw new ClassCastException("a whole number is needed");
    }

    private static List<String> texts(Object value) {
        return ((JsonArray) value).stream().map(String.class::cast).toList();
    }

    static long between(String name, long value, long lowest, long highest) {
        if (value < lowest || value > highest) {
            throw new IllegalArgumentException(name + " is " + lowest + " to " + highest + ", not " + value);
        }
        return value;
    }
}
