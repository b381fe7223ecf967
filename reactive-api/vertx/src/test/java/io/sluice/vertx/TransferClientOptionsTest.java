package io.sluice.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.EngineOptions;
import io.vertx.core.json.JsonObject;
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
                .setEngineName("kv-cache")
                .setListenHost("localhost")
                .setListenPort(7000)
                .setAdvertisedHost("example.org")
                .setAdvertisedPort(7001)
                .setTransports(List.of("shm", "tcp"))
                .setToken(SECRET)
                .setPollers(2)
                .setWindowOperations(11)
                .setWindowBytes(1 << 17)
                .setEngineWindowOperations(111)
                .setEngineWindowBytes(1 << 18)
                .setMaxPending(12)
                .setMaxConnections(13)
                .setLanes(3)
                .setNotificationCredits(14)
                .setMaxNotificationBytes(15)
                .setMaxAttachedRegions(16)
                .setLivenessTimeout(1700)
                .setConnectTimeout(1800)
                .setAllowUnauthenticatedPeers(true);
    }

    @Test
    void defaultsAreTheEngines() {
        TransferClientOptions options = new TransferClientOptions();
        EngineOptions engine = EngineOptions.fromEnvironment();
        assertThat(options.getWindowOperations()).isEqualTo(engine.windowOperations());
        assertThat(options.getListenHost()).isEqualTo(engine.listenHost());
        assertThat(options.isShared()).isFalse();
        assertThat(options.getName()).isEqualTo(TransferClientOptions.DEFAULT_NAME);
        assertThat(options.hasToken()).isEqualTo(engine.token() != null);
    }

    @Test
    void jsonGoesThereAndBack() {
        JsonObject json = all().toJson();
        TransferClientOptions back = new TransferClientOptions(new JsonObject(json.encode()));
        assertThat(back.toJson()).isEqualTo(json);
        assertThat(json.size()).isEqualTo(28);
        assertThat(back.getEngineOptions().livenessTimeout()).isEqualTo(Duration.ofMillis(1700));
        assertThat(back.getTransports()).containsExactly("shm", "tcp");
        assertThat(back.hasToken()).isEqualTo(EngineOptions.fromEnvironment().token() != null);
    }

    @Test
    void listeningNowhereGoesThereAndBack() {
        JsonObject json = new TransferClientOptions().setListenHost(null).toJson();
        assertThat(json.getBoolean("listening")).isFalse();
        assertThat(new TransferClientOptions(json).getListenHost()).isNull();
    }

    @Test
    void aCopyIsEqualAndIndependent() {
        TransferClientOptions options = all();
        TransferClientOptions copy = new TransferClientOptions(options);
        assertThat(copy.toJson()).isEqualTo(options.toJson());
        assertThat(copy.hasToken()).isTrue();
        copy.setWindowOperations(99).setName("other");
        assertThat(options.getWindowOperations()).isEqualTo(11);
        assertThat(options.getName()).isEqualTo("pool");
    }

    @Test
    void theSecretIsReadAndNotTold() {
        TransferClientOptions options = new TransferClientOptions(new JsonObject().put("token", SECRET));
        assertThat(options.hasToken()).isTrue();
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
}
