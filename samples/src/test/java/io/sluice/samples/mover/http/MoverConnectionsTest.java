package io.sluice.samples.mover.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients can hold of a mover's server. */
class MoverConnectionsTest {

    private static final String POST =
            "POST /api/pools HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: 90000\r\n\r\n";

    private static final Duration LATE = Patience.scaled(Duration.ofMillis(400));
    private static final Duration NEVER = Duration.ofDays(1);

    @ParameterizedTest
    @ValueSource(strings = {"", "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", POST})
    void aRequestThatIsNotWholeInTimeIsCut(String beginning) throws IOException {
        try (MoverPair movers = MoverPair.withHttp("tcp", http -> http.withConnections(64, LATE));
                TricklingClients slow = new TricklingClients(movers.decode.url(), 4, beginning)) {
            movers.decodeApi.json("/api/moves");
            slow.awaitCut(4);
            movers.decodeApi.json("/api/moves");
        }
    }

    @Test
    void theOldestThatWaitGoWhereThereIsNoRoom() throws IOException {
        try (MoverPair movers = MoverPair.withHttp("tcp", http -> http.withConnections(16, NEVER));
                TricklingClients slow = new TricklingClients(movers.decode.url(), 20, POST)) {
            // one address has half of the connections
            slow.awaitCut(12);
            movers.decodeApi.json("/api/moves");
            slow.awaitCut(13);
        }
    }

    @Test
    void anAnswerThatGoesOnIsNotCut() throws IOException {
        try (MoverPair movers = MoverPair.withHttp("tcp", http -> http.withConnections(4, LATE));
                TricklingClients slow = new TricklingClients(movers.decode.url(), 1, "")) {
            try (Stream<ServerSentEvent> events = movers.decodeApi.events("/api/events")) {
                slow.awaitCut(1);
                assertThat(events.filter(event -> event.name().equals("engine")).limit(3))
                        .hasSize(3);
            }
        }
    }
}
