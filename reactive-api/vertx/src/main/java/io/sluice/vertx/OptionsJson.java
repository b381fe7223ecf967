package io.sluice.vertx;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.EngineOptions.Builder;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/** Converts the client's and the engine's settings from and to JSON. */
final class OptionsJson {
    private static final String LOOPBACK = "127.0.0.1";
    private static final String TOKEN = "token";

    private static final List<Property<TransferClientOptions, TransferClientOptions>> OWN = List.of(
            flag("shared", TransferClientOptions::isShared, TransferClientOptions::setShared),
            text("name", TransferClientOptions::getName, TransferClientOptions::setName),
            number("stagingBytes", TransferClientOptions::getStagingBytes, TransferClientOptions::setStagingBytes),
            count(
                    "stagingSlotBytes",
                    TransferClientOptions::getStagingSlotBytes,
                    TransferClientOptions::setStagingSlotBytes),
            flag("metricsEnabled", TransferClientOptions::isMetricsEnabled, TransferClientOptions::setMetricsEnabled),
            text(
                    "metricsRegistryName",
                    TransferClientOptions::getMetricsRegistryName,
                    TransferClientOptions::setMetricsRegistryName),
            count("metricsPeers", TransferClientOptions::getMetricsPeers, TransferClientOptions::setMetricsPeers));

    /** In the order of reading: a port follows its host. */
    private static final List<Property<EngineOptions, Builder>> ENGINE = List.of(
            text("engineName", EngineOptions::name, Builder::name),
            text(
                    "listenHost",
                    EngineOptions::listenHost,
                    (to, host) -> to.listen(host, to.build().listenPort())),
            count("listenPort", EngineOptions::listenPort, OptionsJson::listenPort),
            flag("listening", options -> options.listenHost() != null, OptionsJson::listening),
            text(
                    "advertisedHost",
                    EngineOptions::advertisedHost,
                    (to, host) -> to.advertise(host, to.build().advertisedPort())),
            count(
                    "advertisedPort",
                    options -> options.advertisedHost() == null ? null : options.advertisedPort(),
                    OptionsJson::advertisedPort),
            new Property<>(
                    "transports",
                    options -> new JsonArray(options.transports()),
                    (to, value) -> to.transports(strings(value))),
            count("pollers", EngineOptions::pollers, Builder::pollers),
            count("windowOperations", EngineOptions::windowOperations, Builder::windowOperations),
            number("windowBytes", EngineOptions::windowBytes, Builder::windowBytes),
            count("engineWindowOperations", EngineOptions::engineWindowOperations, Builder::engineWindowOperations),
            number("engineWindowBytes", EngineOptions::engineWindowBytes, Builder::engineWindowBytes),
            count("maxPending", EngineOptions::maxPending, Builder::maxPending),
            count("maxConnections", EngineOptions::maxConnections, Builder::maxConnections),
            count("lanes", EngineOptions::lanes, Builder::lanes),
            count("notificationCredits", EngineOptions::notificationCredits, Builder::notificationCredits),
            count("maxNotificationBytes", EngineOptions::maxNotificationBytes, Builder::maxNotificationBytes),
            count("maxAttachedRegions", EngineOptions::maxAttachedRegions, Builder::maxAttachedRegions),
            millis("livenessTimeout", EngineOptions::livenessTimeout, Builder::livenessTimeout),
            millis("connectTimeout", EngineOptions::connectTimeout, Builder::connectTimeout),
            flag(
                    "allowUnauthenticatedPeers",
                    EngineOptions::allowUnauthenticatedPeers,
                    Builder::allowUnauthenticatedPeers));

    private OptionsJson() {}

    static JsonObject write(TransferClientOptions options) {
        JsonObject json = new JsonObject();
        OWN.forEach(property -> property.write(options, json));
        ENGINE.forEach(property -> property.write(options.getEngineOptions(), json));
        return json;
    }

    /** Sets the keys in the JSON, and keeps the other settings. */
    static void read(JsonObject json, TransferClientOptions options) {
        OWN.forEach(property -> property.read(json, options));
        options.configureEngine(builder -> {
            ENGINE.forEach(property -> property.read(json, builder));
            Object token = json.getValue(TOKEN);
            if (token instanceof String secret) {
                builder.token(secret.getBytes(StandardCharsets.UTF_8));
            } else if (token != null) {
                // the message omits the value, which is a secret
                throw new IllegalArgumentException(TOKEN + " must be a string");
            }
        });
    }

    /**
     * A setting.
     *
     * @param <S> the options with the setting
     * @param <T> the type of the setter's target: {@code S} or its builder
     * @param key the JSON key
     * @param getter returns the JSON value, or {@code null} for none
     * @param setter throws {@link ClassCastException} or {@link ArithmeticException} for a value of the wrong type
     */
    private record Property<S, T>(String key, Function<S, @Nullable Object> getter, BiConsumer<T, Object> setter) {
        void write(S from, JsonObject json) {
            Object value = getter.apply(from);
            if (value != null) {
                json.put(key, value);
            }
        }

        void read(JsonObject json, T to) {
            Object value = json.getValue(key);
            if (value == null) {
                return;
            }
            try {
                setter.accept(to, value);
            } catch (ClassCastException | ArithmeticException e) {
                throw new IllegalArgumentException(key + " cannot be " + value, e);
            }
        }
    }

    private static <S, T> Property<S, T> flag(String key, Function<S, Boolean> getter, BiConsumer<T, Boolean> setter) {
        return new Property<>(key, getter::apply, (to, value) -> setter.accept(to, (Boolean) value));
    }

    private static <S, T> Property<S, T> text(
            String key, Function<S, @Nullable String> getter, BiConsumer<T, String> setter) {
        return new Property<>(key, getter::apply, (to, value) -> setter.accept(to, (String) value));
    }

    private static <S, T> Property<S, T> count(
            String key, Function<S, @Nullable Integer> getter, ObjIntConsumer<T> setter) {
        return new Property<>(key, getter::apply, (to, value) -> setter.accept(to, Math.toIntExact(integer(value))));
    }

    private static <S, T> Property<S, T> number(String key, Function<S, Long> getter, ObjLongConsumer<T> setter) {
        return new Property<>(key, getter::apply, (to, value) -> setter.accept(to, integer(value)));
    }

    private static <S, T> Property<S, T> millis(
            String key, Function<S, Duration> getter, BiConsumer<T, Duration> setter) {
        return number(
                key,
                options -> getter.apply(options).toMillis(),
                (to, value) -> setter.accept(to, Duration.ofMillis(value)));
    }

    private static void listenPort(Builder builder, int port) {
        builder.listen(Objects.requireNonNullElse(builder.build().listenHost(), LOOPBACK), port);
    }

    /** {@code true} has no effect: host and port determine where it listens. */
    private static void listening(Builder builder, boolean value) {
        if (!value) {
            builder.noListener();
        }
    }

    private static void advertisedPort(Builder builder, int port) {
        String host = builder.build().advertisedHost();
        if (host == null) {
            throw new IllegalArgumentException("advertisedPort needs advertisedHost");
        }
        builder.advertise(host, port);
    }

    private static List<String> strings(Object value) {
        return ((JsonArray) value).stream().map(String.class::cast).toList();
    }

    private static long integer(Object value) {
        if (value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte) {
            return ((Number) value).longValue();
        }
        throw new ClassCastException("not an integer: " + value);
    }
}
