package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportMetrics;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A connection can be used as soon as connect has completed, though the acceptor's lanes may have come to another poller than
 * its session and are still on their way there.
 */
@Tag("filler")
class AttachAtOnceTest {
    private static final int ROUNDS = 600;
    private static final int TOGETHER = 6;

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 1", "2, 4", "3, 2"})
    void attachRightAfterConnect(int pollers, int lanes) {
        EngineOptions options = PatientOptions.builder()
                .transports(List.of("tcp"))
                .pollers(pollers)
                .lanes(lanes)
                // A poller that is woken sees descriptors before it looks at what was handed over.
                .spin(Duration.ZERO)
                .yield(Duration.ZERO)
                .build();
        try (TransferEngine target = TransferEngine.open(options);
                TransferEngine initiator = TransferEngine.open(options)) {
            MemoryRegion region = target.allocate(64, RegionOptions.readWrite());
            for (int round = 0; round < ROUNDS; round += TOGETHER) {
                List<CompletableFuture<Connection>> connecting = new ArrayList<>();
                for (int i = 0; i < TOGETHER; i++) {
                    connecting.add(initiator
                            .connect(target.address())
                            .thenCompose(connection ->
                                    connection.attach(region.descriptor()).thenApply(remote -> connection)));
                }
                for (CompletableFuture<Connection> each : connecting) {
                    Patience.await(Patience.await(each).close());
                }
            }
            assertThat(EngineSums.ofTransports(target, TransportMetrics::connectionsLost))
                    .isZero();
        }
    }
}
