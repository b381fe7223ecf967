package io.sluice.engine.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A peer that could not be notified that a region is closed must not go on using it. */
class UntoldEndTest {
    @Test
    void connectionEndsAndTheRegionCloses() throws Exception {
        try (CapturedLog log = CapturedLog.warnings();
                LinkedEngines engines = new LinkedEngines(
                        options -> options.transports(List.of(WordlessTransportProvider.NAME)),
                        // longer than any wait: it is the failure that ends the connection
                        options -> options.transports(List.of(WordlessTransportProvider.NAME))
                                .livenessTimeout(Duration.ofHours(1)))) {
            MemoryRegion served = engines.served(64);
            engines.attach(served);
            Patience.await(served.close());
            Patience.until("it is lost", () -> engines.accepted().state() == ConnectionState.LOST);
            Patience.until(
                    "the peer has lost it, too", () -> engines.connection().state() == ConnectionState.LOST);
            assertThat(Patience.failure(engines.connection().lookup("any"), ConnectionLostException.class))
                    .hasMessageContaining("could not notify the peer that a region is closed");
            assertThat(log.lines()).anyMatch(line -> line.contains("could not be notified that MemoryRegion["));
        }
    }
}
