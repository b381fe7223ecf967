package io.sluice.samples.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against a server that answers as a mover does whose first move connects it to its peer. */
class ClusterTrafficTest {

    private static final Duration BOUND = Patience.BOUND;

    private HttpServer server;
    private MoverHttpClient mover;
    private volatile boolean connected;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(
                "/api/peers",
                exchange -> answer(
                        exchange,
                        "{\"peers\":[{\"name\":\"prefill/0\",\"engine\":\"e\",\"epoch\":\"1\",\"transport\":"
                                + (connected ? "\"tcp\"" : "null") + "}]}"));
        server.createContext("/api/moves", exchange -> {
            connected = true;
            answer(exchange, "{\"id\":\"m\",\"state\":\"DONE\",\"blocksDone\":1,\"bytesDone\":4096}");
        });
        server.start();
        mover = new MoverHttpClient(URI.create("http://" + server.getAddress().getHostString() + ":"
                + server.getAddress().getPort()));
    }

    @AfterEach
    void stop() {
        mover.close();
        server.stop(0);
    }

    @Test
    void theFirstMoveIsCountedWithTheTransportThatItHasConnectedBy() {
        ClusterTally tally = new ClusterTally();
        try (ClusterTraffic traffic = new ClusterTraffic(mover, "kv", List.of("a", "b"), 1, peer -> true, tally)) {
            traffic.start();
            await().atMost(BOUND).until(() -> tally.moves() > 0);
            assertThat(tally.summary("model", true).transports()).containsExactly("tcp");
        }
    }

    private static void answer(HttpExchange exchange, String json) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }
}
