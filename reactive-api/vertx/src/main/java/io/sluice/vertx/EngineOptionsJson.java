package io.sluice.vertx;

import static io.sluice.vertx.JsonProperty.count;
import static io.sluice.vertx.JsonProperty.flag;
import static io.sluice.vertx.JsonProperty.number;
import static io.sluice.vertx.JsonProperty.text;

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

/** The JSON form of the engine's settings. */
final class EngineOptionsJson {
    private static final String LOOPBACK = "127.0.0.1";
    private static final String TOKEN = "token";

    /** In the order in which they are read: a port comes after its host. */
    private static final List<JsonProperty<EngineOptions, Builder>> PROPERTIES = List.of(
            text("engineName", EngineOptions::name, Builder::name),
            text(
                    "listenHost",
                    EngineOptions::listenHost,
                    (builder, host) -> builder.listen(host, builder.build().listenPort())),
            count("listenPort", EngineOptions::listenPort, EngineOptionsJson::listenPort),
            flag("listening", options -> options.listenHost() != null, EngineOptionsJson::listening),
            text(
                    "advertisedHost",
                    EngineOptions::advertisedHost,
                    (builder, host) -> builder.advertise(host, builder.build().advertisedPort())),
            new JsonProperty<>(
                    "advertisedPort",
                    options -> options.advertisedHost() == null ? null : options.advertisedPort(),
                    EngineOptionsJson::advertisedPort),
            new JsonProperty<>(
                    "transports",
                    options -> new JsonArray(options.transports()),
                    (builder, value) -> builder.transports(strings(value))),
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

    private EngineOptionsJson() {}

    static void write(EngineOptions options, JsonObject json) {
        PROPERTIES.forEach(property -> property.write(options, json));
    }

    static EngineOptions read(JsonObject json, EngineOptions defaults) {
        Builder builder = defaults.toBuilder();
        PROPERTIES.forEach(property -> property.read(json, builder));
        Object token = json.getValue(TOKEN);
        if (token != null) {
            if (!(token instanceof String secret)) {
                // the message leaves out the value, which is a secret
                throw new IllegalArgumentException(TOKEN + " must be a string");
            }
            builder.token(secret.getBytes(StandardCharsets.UTF_8));
        }
        return builder.build();
    }

    private static JsonProperty<EngineOptions, Builder> millis(
            String key, Function<EngineOptions, Duration> getter, BiConsumer<Builder, Duration> setter) {
        return number(
                key,
                options -> getter.apply(options).toMillis(),
                (builder, value) -> setter.accept(builder, Duration.ofMillis(value)));
    }

    private static void listenPort(Builder builder, int port) {
        builder.listen(Objects.requireNonNullElse(builder.build().listenHost(), LOOPBACK), port);
    }

    /** {@code true} changes nothing: host and port say where it listens. */
    private static void listening(Builder builder, boolean value) {
        if (!value) {
            builder.noListener();
        }
    }

    private static void advertisedPort(Builder builder, Object value) {
        String host = builder.build().advertisedHost();
        if (host == null) {
            throw new IllegalArgumentException("advertisedPort needs advertisedHost");
        }
        builder.advertise(host, Math.toIntExact(JsonProperty.integer(value)));
    }

    private static List<String> strings(Object value) {
        return ((JsonArray) value).stream().map(String.class::cast).toList();
    }
}
