package io.sluice.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.EngineOptions;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransferClientOptionsTest {
    private static final String SECRET = "a secret of some length";

    private static TransferClientOptions all() {
        return new TransferClientOptions()
                .setShared(true)
                .setName("pool")
                .setStagingBytes(1 << 20)
                .setStagingSlotBytes(1 << 14)
                .setMetricsEnabled(false)
                .setMetricsRegistryName("mine")
                .setMetricsPeers(5)
                .configureEngine(engine -> engine.name("kv-cache")
                        .listen("localhost", 7000)
                        .advertise("example.org", 7001)
                        .transports(List.of("shm", "tcp"))
                        .token(SECRET.getBytes(StandardCharsets.UTF_8))
                        .pollers(2)
                        .windowOperations(11)
                        .windowBytes(1 << 17)
                        .engineWindowOperations(111)
                        .engineWindowBytes(1 << 18)
                        .maxPending(12)
                        .maxConnections(13)
                        .lanes(3)
                        .notificationCredits(14)
                        .maxNotificationBytes(15)
                        .maxAttachedRegions(16)
                        .livenessTimeout(Duration.ofMillis(1700))
                        .connectTimeout(Duration.ofMillis(1800))
                        .allowUnauthenticatedPeers(true));
    }

    @Test
    void defaultsAreTheEngines() {
        TransferClientOptions options = new TransferClientOptions();
        EngineOptions engine = options.getEngineOptions();
        assertThat(engine.windowOperations())
                .isEqualTo(EngineOptions.fromEnvironment().windowOperations());
        assertThat(engine.listenHost())
                .isEqualTo(EngineOptions.fromEnvironment().listenHost());
        assertThat(options.isShared()).isFalse();
        assertThat(options.getName()).isEqualTo(TransferClientOptions.DEFAULT_NAME);
        assertThat(engine.token()).isEqualTo(EngineOptions.fromEnvironment().token());
    }

    @Test
    void jsonGoesThereAndBack() {
        JsonObject json = all().toJson();
        TransferClientOptions back = new TransferClientOptions(new JsonObject(json.encode()));
        assertThat(back.toJson()).isEqualTo(json);
        assertThat(json.size()).isEqualTo(28);
        assertThat(back.getEngineOptions().livenessTimeout()).isEqualTo(Duration.ofMillis(1700));
        assertThat(back.getEngineOptions().transports()).containsExactly("shm", "tcp");
        assertThat(back.getEngineOptions().token())
                .isEqualTo(EngineOptions.fromEnvironment().token());
    }

    @Test
    void listeningNowhereGoesThereAndBack() {
        JsonObject json = new TransferClientOptions()
                .configureEngine(EngineOptions.Builder::noListener)
                .toJson();
        assertThat(json.getBoolean("listening")).isFalse();
        assertThat(new TransferClientOptions(json).getEngineOptions().listenHost())
                .isNull();
    }

    @Test
    void aCopyIsEqualAndIndependent() {
        TransferClientOptions options = all();
        TransferClientOptions copy = new TransferClientOptions(options);
        assertThat(copy.toJson()).isEqualTo(options.toJson());
        assertThat(copy.getEngineOptions().tokens()).isNotNull();
        copy.configureEngine(engine -> engine.windowOperations(99)).setName("other");
        assertThat(options.getEngineOptions().windowOperations()).isEqualTo(11);
        assertThat(options.getName()).isEqualTo("pool");
    }

    @Test
    void theSecretIsReadAndNotTold() {
        TransferClientOptions options = new TransferClientOptions(new JsonObject().put("token", SECRET));
        assertThat(options.getEngineOptions().token()).isEqualTo(SECRET.getBytes(StandardCharsets.UTF_8));
        assertThat(options.toJson().encode()).doesNotContain(SECRET, "token");
        assertThat(options.toString()).doesNotContain(SECRET);
        assertThatThrownBy(() -> new TransferClientOptions(new JsonObject().put("token", "short")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("short");
        assertThatThrownBy(() -> new TransferClientOptions(new JsonObject().put("token", 123_456)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("123");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"windowOperations\": \"many\"}",
                "{\"windowOperations\": 1.5}",
                "{\"windowOperations\": 0}",
                "{\"windowOperations\": 10000000000}",
                "{\"advertisedPort\": 7001}",
                "{\"listenPort\": \"any\"}",
                "{\"shared\": \"yes\"}",
                "{\"transports\": \"tcp\"}",
                "{\"stagingSlotBytes\": 1}",
                "{\"metricsPeers\": -1}"
            })
    void nonsenseIsRefusedByName(String json) {
        JsonObject object = new JsonObject(json);
        assertThatThrownBy(() -> new TransferClientOptions(object))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(object.fieldNames().iterator().next());
    }

    @Test
    void unknownKeysArePassedOver() {
        assertThat(new TransferClientOptions(new JsonObject().put("unknown", 1))
                        .toJson()
                        .containsKey("unknown"))
                .isFalse();
    }

    @Test
    void aPortAloneIsOfTheDefaultHost() {
        EngineOptions engine = new TransferClientOptions(new JsonObject().put("listenPort", 7000)).getEngineOptions();
        assertThat(engine.listenPort()).isEqualTo(7000);
        assertThat(engine.listenHost())
                .isEqualTo(EngineOptions.fromEnvironment().listenHost());
    }
}
