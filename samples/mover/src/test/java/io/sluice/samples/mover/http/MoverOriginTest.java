package io.sluice.samples.mover.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages of others, in the browser of a user who runs a mover. */
class MoverOriginTest {

    private static final String POOL = new JsonObject()
            .put("name", "kv")
            .put("pageBytes", 4096)
            .put("blocks", 4)
            .encode();

    private static HttpResponse<String> post(HttpApi api, String origin, String site) {
        return api.send(api.request("/api/pools")
                .header("Origin", origin)
                .header("Sec-Fetch-Site", site)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(POOL)));
    }

    @Test
    void areRefused() {
        try (MoverPair movers = MoverPair.over("tcp")) {
            HttpApi api = movers.decodeApi;
            int port = movers.decode.port();
            api.register("mine", 1, 4096, 1, 4);
            for (String foreign : new String[] {
                "http://evil.example",
                "https://evil.example:" + port,
                "http://127.0.0.1",
                "http://127.0.0.1:" + (port - 1),
                "http://127.0.0.1:" + port + ".evil.example",
                "ftp://127.0.0.1:" + port,
                "null",
                ""
            }) {
                HttpApi.problem(post(api, foreign, "cross-site"), 403, "foreign-origin");
                HttpApi.problem(
                        api.send(api.request("/api/pools/mine")
                                .header("Origin", foreign)
                                .DELETE()),
                        403,
                        "foreign-origin");
            }
            assertThat(api.json("/api/pools").getJsonArray("pools")).hasSize(1);
        }
    }

    @Test
    void theServersOwnIsServed() {
        try (MoverPair movers = MoverPair.over("tcp")) {
            HttpApi api = movers.decodeApi;
            String here = "127.0.0.1:" + movers.decode.port();
            HttpApi.json(post(api, "http://" + here, "same-origin"), 201);
            // by way of a proxy with TLS: one that passes the host on, and one that does not
            HttpApi.problem(post(api, "https://" + here, "none"), 409, "pool-exists");
            HttpApi.problem(post(api, "https://mover.example", "same-origin"), 409, "pool-exists");
            assertThat(api.get("/").headers().firstValue("Cross-Origin-Resource-Policy"))
                    .hasValue("same-origin");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"127.0.0.1", "127.0.0.2", "127.1", "localhost", "LocalHost", "::1", "[::1]", "0:0:0:0:0:0:0:1"})
    void loopbackHasManySpellings(String host) {
        assertThat(BrowserRules.isLoopback(host)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0.0.0.0", "::", "[]", "[", "128.0.0.1", "evil.example", "localhost.evil.example"})
    void otherHostsAreNotLoopback(String host) {
        assertThat(BrowserRules.isLoopback(host)).isFalse();
    }
}
