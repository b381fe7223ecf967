package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import io.sluice.testkit.SteadyRounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.RepeatedTest;

/** When all lanes fail, every transfer ends, and the error names the last lane. */
class LaneFailureTest {
    private static final int LANES = 3;
    private static final int BYTES = 1 << 20;
    private static final int UNHARMED = 30;
    private static final int ENOUGH = 60;
    // a lane that freezes is given up after this
    private static final Duration LIVENESS = Duration.ofSeconds(1);

    /** Breaks the lanes in some way while transfers are under way, and looks at how they end. */
    private static void assertFailureNamesTheLane(Duration liveness, Consumer<FaultyPath.Link> failure) {
        try (FaultyPath path = new FaultyPath()) {
            EngineOptions options = PatientOptions.builder()
                    .transports(List.of("tcp"))
                    .lanes(LANES)
                    .livenessTimeout(liveness)
                    .connectTimeout(Patience.BOUND)
                    .build();
            try (TransferEngine target = TransferEngine.open(options);
                    TransferEngine initiator = TransferEngine.open(options)) {
                path.leadsTo(target.address().port());
                Connection connection =
                        Patience.await(initiator.connect(new EngineAddress("127.0.0.1", path.port(), target.id())));
                MemoryRegion local = initiator.allocate(BYTES, RegionOptions.local());
                RemoteRegion remote = Patience.await(connection.attach(
                        target.allocate(BYTES, RegionOptions.readWrite()).descriptor()));
                Patience.until("all lanes are there", () -> path.links().size() == 1 + LANES);
                List<CompletableFuture<Void>> writes = new ArrayList<>();
                List<CompletableFuture<Void>> reads = new ArrayList<>();
                long start = System.nanoTime();
                for (int i = 0; connection.state() == ConnectionState.OPEN; i++) {
                    assertThat(Duration.ofNanos(System.nanoTime() - start))
                            .as("the failure is noticed")
                            .isLessThan(Patience.BOUND);
                    if (i == UNHARMED) {
                        Patience.await(writes.getFirst());
                        path.links().subList(1, 1 + LANES).forEach(failure);
                    } else if (i > ENOUGH) {
                        // The rest is for a failure that comes when all of these have ended.
                        Patience.pause(Duration.ofMillis(1));
                    }
                    CompletableFuture<Void> end = new CompletableFuture<>();
                    TransferCallback callback = (transfer, error) -> GuardedTarget.end(end, error);
                    (i % 2 == 0 ? writes : reads).add(end);
                    try {
                        if (i % 2 == 0) {
                            connection.write(local, 0, remote, 0, BYTES, TransferOptions.defaults(), callback);
                        } else {
                            connection.read(local, 0, remote, 0, BYTES, TransferOptions.defaults(), callback);
                        }
                    } catch (ConnectionLostException already) {
                        end.completeExceptionally(already);
                    }
                }
                List<ConnectionLostException> errors = new ArrayList<>();
                writes.forEach(write -> errors.addAll(errorOf(write)));
                reads.forEach(read -> assertThat(errorOf(read)).allSatisfy(error -> {
                    assertThat(error).isNotInstanceOf(OutcomeUnknownException.class);
                    errors.add(error);
                }));
                assertThat(errors)
                        .isNotEmpty()
                        .allSatisfy(error -> assertThat(error).hasMessageMatching("(?s).*\\blane [0-2]\\b.*"));
                assertThat(Patience.failure(connection.ended(), ConnectionLostException.class))
                        .hasMessageMatching("(?s).*\\blane [0-2]\\b.*");
                Patience.await(connection.quiesced());
                Patience.await(local.close());
            }
        }
    }

    private static List<ConnectionLostException> errorOf(CompletableFuture<Void> end) {
        try {
            Patience.await(end);
            return List.of();
        } catch (ConnectionLostException e) {
            return List.of(e);
        }
    }

    @RepeatedTest(3)
    void lanesThatFreeze() {
        SteadyRounds.run(LIVENESS, liveness -> assertFailureNamesTheLane(liveness, FaultyPath.Link::stall));
    }

    @RepeatedTest(5)
    void lanesThatAreCut() {
        // that is noticed at once, not by a time-out
        assertFailureNamesTheLane(Patience.BOUND.multipliedBy(2), FaultyPath.Link::reset);
    }
}
