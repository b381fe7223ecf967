package io.sluice.samples.mover.http;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits on the connections that clients hold open to a mover's server. */
class MoverConnectionsTest {

    private static final String POST =
            "POST /api/pools HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: 90000\r\n\r\n";

    private static final Duration LATE = Patience.scaled(Duration.ofMillis(400));
    private static final Duration NEVER = Duration.ofDays(1);

    @ParameterizedTest
    @ValueSource(strings = {"", "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", POST})
    void aRequestThatIsNotWholeInTimeIsCut(String beginning) throws IOException {
        try (MoverPair movers = MoverPair.withHttp(
                        "tcp", http -> http.withLimits(new MoverHttpOptions.Limits(128, 256 << 10, 64, LATE)));
                TricklingClients slow = new TricklingClients(movers.decode.url(), 4, beginning)) {
            Patience.until("an honest one is served", () -> isServed(movers));
            slow.awaitCut(4);
            Patience.until("an honest one is served again", () -> isServed(movers));
        }
    }

    /** A busy machine may be late with an honest request as well, and that is cut. */
    private static boolean isServed(MoverPair movers) {
        try {
            movers.decodeApi.json("/api/moves");
            return true;
        } catch (AssertionError cut) {
            return false;
        }
    }

    @Test
    void theOldestThatWaitGoWhereThereIsNoRoom() throws IOException {
        try (MoverPair movers = MoverPair.withHttp(
                        "tcp", http -> http.withLimits(new MoverHttpOptions.Limits(128, 256 << 10, 16, NEVER)));
                TricklingClients slow = new TricklingClients(movers.decode.url(), 20, POST)) {
            // one address has half of the connections
            slow.awaitCut(12);
            movers.decodeApi.json("/api/moves");
            slow.awaitCut(13);
        }
    }

    @Test
    void anAnswerThatGoesOnIsNotCut() throws IOException {
        try (MoverPair movers = MoverPair.withHttp(
                        "tcp", http -> http.withLimits(new MoverHttpOptions.Limits(128, 256 << 10, 4, LATE)));
                TricklingClients slow = new TricklingClients(movers.decode.url(), 1, "")) {
            Patience.until("an answer goes on", () -> goesOn(movers, slow));
        }
    }

    private static boolean goesOn(MoverPair movers, TricklingClients slow) {
        try (Stream<ServerSentEvent> events = movers.decodeApi.events("/api/events")) {
            slow.awaitCut(1);
            return events.filter(event -> event.name().equals("engine"))
                            .limit(3)
                            .count()
                    == 3;
        } catch (AssertionError | UncheckedIOException cut) {
            return false;
        }
    }
}
