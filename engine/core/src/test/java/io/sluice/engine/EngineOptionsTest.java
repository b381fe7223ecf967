package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EngineOptionsTest {
    private static EngineOptions environment(String name, String value) {
        return EngineOptions.builder().environment(Map.of(name, value)).build();
    }

    @Test
    void defaultsAreTheDocumentedOnes() {
        EngineOptions options = EngineOptions.defaults();
        assertThat(options.listenHost()).isEqualTo("127.0.0.1");
        assertThat(options.listenPort()).isZero();
        assertThat(options.advertisedHost()).isNull();
        assertThat(options.transports()).isEmpty();
        assertThat(options.pollers()).isEqualTo(1);
        assertThat(options.windowOperations()).isEqualTo(256);
        assertThat(options.windowBytes()).isEqualTo(64L << 20);
        assertThat(options.maxPending()).isEqualTo(65_536);
        assertThat(options.maxHandshakesPerSecond()).isEqualTo(2000);
        assertThat(options.maxHalfOpen()).isEqualTo(256);
        assertThat(options.handshakeTimeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(options.maxServedRequests()).isEqualTo(4096);
        assertThat(options.servedWindowBytes()).isEqualTo(256L << 20);
        assertThat(options.lanes()).isEqualTo(1);
        assertThat(options.livenessTimeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(options.integrity()).isEqualTo(Integrity.NONE);
        assertThat(options.token()).isNull();
        assertThat(options.allowUnauthenticatedPeers()).isFalse();
    }

    @Test
    void everyVariableIsRead() {
        EngineOptions options = EngineOptions.builder()
                .environment(Map.ofEntries(
                        Map.entry("SLUICE_LISTEN", "[::1]:7001"),
                        Map.entry("SLUICE_ADVERTISE", "node.example:7002"),
                        Map.entry("SLUICE_TRANSPORTS", "shm, tcp"),
                        Map.entry("SLUICE_POLLERS", "3"),
                        Map.entry("SLUICE_WINDOW_OPERATIONS", "17"),
                        Map.entry("SLUICE_WINDOW_BYTES", "3MiB"),
                        Map.entry("SLUICE_ENGINE_WINDOW_OPERATIONS", "18"),
                        Map.entry("SLUICE_ENGINE_WINDOW_BYTES", "2GiB"),
                        Map.entry("SLUICE_MAX_PENDING", "19"),
                        Map.entry("SLUICE_MAX_CONNECTIONS", "20"),
                        Map.entry("SLUICE_MAX_HANDSHAKES_PER_SECOND", "23"),
                        Map.entry("SLUICE_MAX_HALF_OPEN", "24"),
                        Map.entry("SLUICE_HANDSHAKE_TIMEOUT", "4s"),
                        Map.entry("SLUICE_MAX_SERVED_REQUESTS", "25"),
                        Map.entry("SLUICE_SERVED_WINDOW_BYTES", "7MiB"),
                        Map.entry("SLUICE_LANES", "4"),
                        Map.entry("SLUICE_LIVENESS_TIMEOUT", "1500ms"),
                        Map.entry("SLUICE_CONNECT_TIMEOUT", "PT2.5S"),
                        Map.entry("SLUICE_NOTIFICATION_CREDITS", "21"),
                        Map.entry("SLUICE_MAX_NOTIFICATION_BYTES", "5KiB"),
                        Map.entry("SLUICE_MAX_ATTACHED_REGIONS", "22"),
                        Map.entry("SLUICE_SPIN", "7us"),
                        Map.entry("SLUICE_YIELD", "0s"),
                        Map.entry("SLUICE_STALL_THRESHOLD", "1m"),
                        Map.entry("SLUICE_SOCKET_BUFFER_BYTES", "65536"),
                        Map.entry("SLUICE_INTEGRITY", "CRC32C"),
                        Map.entry("SLUICE_TOKEN", " sixteen bytes at least "),
                        Map.entry("SLUICE_ALLOW_UNAUTHENTICATED_PEERS", "TRUE"),
                        Map.entry("OTHER", "ignored")))
                .build();
        assertThat(options.listenHost()).isEqualTo("::1");
        assertThat(options.listenPort()).isEqualTo(7001);
        assertThat(options.advertisedHost()).isEqualTo("node.example");
        assertThat(options.advertisedPort()).isEqualTo(7002);
        assertThat(options.transports()).containsExactly("shm", "tcp");
        assertThat(options.pollers()).isEqualTo(3);
        assertThat(options.windowOperations()).isEqualTo(17);
        assertThat(options.windowBytes()).isEqualTo(3L << 20);
        assertThat(options.engineWindowOperations()).isEqualTo(18);
        assertThat(options.engineWindowBytes()).isEqualTo(2L << 30);
        assertThat(options.maxPending()).isEqualTo(19);
        assertThat(options.maxConnections()).isEqualTo(20);
        assertThat(options.maxHandshakesPerSecond()).isEqualTo(23);
        assertThat(options.maxHalfOpen()).isEqualTo(24);
        assertThat(options.handshakeTimeout()).isEqualTo(Duration.ofSeconds(4));
        assertThat(options.maxServedRequests()).isEqualTo(25);
        assertThat(options.servedWindowBytes()).isEqualTo(7L << 20);
        assertThat(options.lanes()).isEqualTo(4);
        assertThat(options.livenessTimeout()).isEqualTo(Duration.ofMillis(1500));
        assertThat(options.connectTimeout()).isEqualTo(Duration.ofMillis(2500));
        assertThat(options.notificationCredits()).isEqualTo(21);
        assertThat(options.maxNotificationBytes()).isEqualTo(5 << 10);
        assertThat(options.maxAttachedRegions()).isEqualTo(22);
        assertThat(options.spin()).isEqualTo(Duration.ofNanos(7000));
        assertThat(options.yield()).isZero();
        assertThat(options.stallThreshold()).isEqualTo(Duration.ofMinutes(1));
        assertThat(options.socketBufferBytes()).isEqualTo(65_536);
        assertThat(options.integrity()).isEqualTo(Integrity.CRC32C);
        assertThat(options.token()).isEqualTo("sixteen bytes at least".getBytes(StandardCharsets.UTF_8));
        assertThat(options.allowUnauthenticatedPeers()).isTrue();
    }

    @Test
    void wordsInsteadOfValues() {
        assertThat(environment("SLUICE_LISTEN", "none").listenHost()).isNull();
        assertThat(environment("SLUICE_TRANSPORTS", "auto").transports()).isEmpty();
        assertThat(environment("SLUICE_POLLERS", "  ").pollers()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "SLUICE_LISTEN, 7000",
        "SLUICE_LISTEN, host:x",
        "SLUICE_LISTEN, host:65536",
        "SLUICE_LISTEN, :7000",
        "SLUICE_LISTEN, ::1:7000",
        "SLUICE_ADVERTISE, none",
        "SLUICE_POLLERS, 0",
        "SLUICE_POLLERS, many",
        "SLUICE_POLLERS, 1.5",
        "SLUICE_WINDOW_OPERATIONS, 65537",
        "SLUICE_WINDOW_OPERATIONS, 99999999999999999999",
        "SLUICE_WINDOW_BYTES, 1",
        "SLUICE_WINDOW_BYTES, 64MB",
        "SLUICE_WINDOW_BYTES, -1",
        "SLUICE_WINDOW_BYTES, 99999999999999999999",
        "SLUICE_WINDOW_BYTES, 9999999999GiB",
        "SLUICE_MAX_NOTIFICATION_BYTES, 3GiB",
        "SLUICE_MAX_NOTIFICATION_BYTES, 2MiB",
        "SLUICE_SOCKET_BUFFER_BYTES, 8GiB",
        "SLUICE_LANES, 17",
        "SLUICE_MAX_HALF_OPEN, 0",
        "SLUICE_HANDSHAKE_TIMEOUT, 1ms",
        "SLUICE_SERVED_WINDOW_BYTES, 1",
        "SLUICE_LIVENESS_TIMEOUT, 10",
        "SLUICE_LIVENESS_TIMEOUT, 1ms",
        "SLUICE_LIVENESS_TIMEOUT, soon",
        "SLUICE_LIVENESS_TIMEOUT, 99999999999999999999s",
        "SLUICE_CONNECT_TIMEOUT, -1s",
        "SLUICE_SPIN, 9999999999999999us",
        "SLUICE_INTEGRITY, md5",
        "SLUICE_TOKEN, short",
        "SLUICE_ALLOW_UNAUTHENTICATED_PEERS, perhaps"
    })
    void complaintsNameTheirVariable(String name, String value) {
        assertThatThrownBy(() -> environment(name, value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(name);
    }

    @Test
    void tlsComesFromFilesOrAKeyStore() {
        EngineOptions options = EngineOptions.builder()
                .environment(Map.of(
                        "SLUICE_TLS_CERT", "/keys/certificate.pem",
                        "SLUICE_TLS_KEY", "/keys/key.pem",
                        "SLUICE_TLS_TRUST", "/keys/trusted.pem",
                        "SLUICE_TLS_DATA", "true",
                        "SLUICE_TLS_VERIFY_HOST", "false"))
                .build();
        assertThat(options.tls())
                .hasToString(
                        "TlsOptions[/keys/certificate.pem, /keys/key.pem, /keys/trusted.pem, data=true, verifyHost=false]");
        EngineOptions changed =
                options.toBuilder().environment(Map.of("SLUICE_TLS_DATA", "no")).build();
        assertThat(changed.tls().data()).isFalse();
        assertThat(changed.tls().verifyHost()).isFalse();
        EngineOptions store = EngineOptions.builder()
                .environment(Map.of(
                        "SLUICE_TLS_KEYSTORE", "/keys/store.p12", "SLUICE_TLS_KEYSTORE_PASSWORD", "hush, a password"))
                .build();
        assertThat(store.tls()).hasToString("TlsOptions[/keys/store.p12, data=false, verifyHost=true]");
        assertThat(store.toString()).doesNotContain("hush");
        assertThat(store.variables("SLUICE_TLS_")).containsOnlyKeys("SLUICE_TLS_KEYSTORE");
        assertThat(EngineOptions.defaults().tls()).isNull();
        assertThat(environment("SLUICE_TLS_DATA", "false").tls()).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "SLUICE_TLS_KEY, SLUICE_TLS_CERT, a",
        "SLUICE_TLS_TRUST, SLUICE_TLS_CERT, a",
        "SLUICE_TLS_CERT, SLUICE_TLS_KEY, a",
        "SLUICE_TLS_DATA, SLUICE_TLS_DATA, true",
        "SLUICE_TLS_VERIFY_HOST, SLUICE_TLS_VERIFY_HOST, false"
    })
    void tlsThatIsNotWhole(String named, String name, String value) {
        Map<String, String> others = name.equals("SLUICE_TLS_CERT") && named.equals("SLUICE_TLS_TRUST")
                ? Map.of(name, value, "SLUICE_TLS_KEY", "b")
                : Map.of(name, value);
        assertThatThrownBy(() -> EngineOptions.builder().environment(others))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(named);
    }

    @Test
    void tokensComeFromOnePlace() {
        EngineOptions file = environment("SLUICE_TOKEN_FILE", "/keys/tokens");
        assertThat(file.tokens()).hasToString("TokenFile[/keys/tokens]");
        assertThat(file.token()).isNull();
        assertThatThrownBy(() -> EngineOptions.builder()
                        .environment(Map.of("SLUICE_TOKEN_FILE", "a", "SLUICE_TOKEN", "hush, a long secret")))
                .hasMessageContaining("SLUICE_TOKEN_FILE")
                .hasMessageNotContaining("hush");
        byte[] secret = "a secret of some length".getBytes(StandardCharsets.UTF_8);
        assertThat(file.toBuilder().token(secret).build().token()).isEqualTo(secret);
    }

    @Test
    void secretIsInNoMessage() {
        assertThatThrownBy(() -> environment("SLUICE_TOKEN", "hush"))
                .hasMessageContaining("SLUICE_TOKEN")
                .hasMessageNotContaining("hush");
        EngineOptions options = EngineOptions.builder()
                .token("a secret of some length".getBytes(StandardCharsets.UTF_8))
                .build();
        assertThat(options.toString()).doesNotContain("secret of");
    }

    @Test
    void secretIsCopied() {
        byte[] secret = "a secret of some length".getBytes(StandardCharsets.UTF_8);
        EngineOptions options = EngineOptions.builder().token(secret).build();
        secret[0] = 'X';
        assertThat(options.token()[0]).isEqualTo((byte) 'a');
        options.token()[0] = 'Y';
        assertThat(options.token()[0]).isEqualTo((byte) 'a');
    }

    @Test
    void optionsDoNotChangeWithTheirBuilder() {
        EngineOptions.Builder builder = EngineOptions.builder().pollers(2);
        EngineOptions options = builder.build();
        builder.pollers(3).transports(List.of("tcp"));
        assertThat(options.pollers()).isEqualTo(2);
        assertThat(options.transports()).isEmpty();
        EngineOptions changed =
                options.toBuilder().lanes(2).with(b -> b.maxPending(5)).build();
        assertThat(changed.pollers()).isEqualTo(2);
        assertThat(changed.lanes()).isEqualTo(2);
        assertThat(changed.maxPending()).isEqualTo(5);
        assertThat(options.lanes()).isEqualTo(1);
    }

    @Test
    void nameIsPrintableAndShort() {
        assertThat(EngineOptions.defaults().name()).isNull();
        assertThat(environment("SLUICE_NAME", " decode 7 ").name()).isEqualTo("decode 7");
        String longest = "é".repeat(64);
        assertThat(EngineOptions.builder().name(longest).build().name()).isEqualTo(longest);
        for (String wrong : List.of("", "x".repeat(65), "a\nb", "a\u0000", "a\u200b", "\ud800")) {
            assertThatThrownBy(() -> EngineOptions.builder().name(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("name");
        }
    }

    @Test
    void slowTransferIsLongerThanNothing() {
        assertThat(EngineOptions.defaults().slowTransfer()).isEqualTo(Duration.ofSeconds(1));
        assertThat(environment("SLUICE_SLOW_TRANSFER", "250ms").slowTransfer()).isEqualTo(Duration.ofMillis(250));
        assertThatThrownBy(() -> environment("SLUICE_SLOW_TRANSFER", "0s"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("SLUICE_SLOW_TRANSFER");
    }

    @Test
    void observersAreKeptInOrder() {
        EngineObserver first = new EngineObserver() {};
        EngineObserver second = new EngineObserver() {};
        EngineOptions.Builder builder = EngineOptions.builder().observer(first);
        EngineOptions one = builder.build();
        builder.observer(second);
        assertThat(EngineOptions.defaults().observers()).isEmpty();
        assertThat(one.observers()).containsExactly(first);
        assertThat(builder.build().toBuilder().build().observers()).containsExactly(first, second);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 17, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void rangesAreChecked(int lanes) {
        assertThatThrownBy(() -> EngineOptions.builder().lanes(lanes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lanes");
    }
}
