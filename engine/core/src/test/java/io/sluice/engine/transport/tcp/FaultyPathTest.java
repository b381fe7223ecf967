package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import io.sluice.testkit.SteadyRounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transfers end when the network between two healthy engines does not do its part. */
@Tag("filler")
class FaultyPathTest {
    // what fails is given up after this
    private static final Duration LIVENESS = Duration.ofSeconds(1);
    // what is alive is not given up, though the machine may be busy with others
    private static final Duration PATIENT = Patience.BOUND.multipliedBy(2);
    private static final long SLOW_PIECE_NANOS = 10_000_000;
    private static final int BYTES = 1 << 20;

    /** Two engines with a path between them that can be broken. */
    private static final class Setting implements AutoCloseable {
        private final FaultyPath path = new FaultyPath();
        private final TransferEngine target;
        private final TransferEngine initiator;
        private final Connection connection;
        private final MemoryRegion served;
        private final MemoryRegion local;
        private final RemoteRegion remote;
        private final AtomicInteger extraSignals = new AtomicInteger();
        private final List<CompletableFuture<Optional<SluiceException>>> ends = new ArrayList<>();

        Setting(int lanes, Duration liveness) {
            this(lanes, BYTES, liveness, 0);
        }

        Setting(int lanes, int bytes, Duration liveness, int socketBufferBytes) {
            EngineOptions options = PatientOptions.builder()
                    .transports(List.of("tcp"))
                    .lanes(lanes)
                    .socketBufferBytes(socketBufferBytes)
                    .livenessTimeout(liveness)
                    .connectTimeout(Patience.BOUND)
                    .build();
            target = TransferEngine.open(options);
            initiator = TransferEngine.open(options);
            path.leadsTo(target.address().port());
            connection = Patience.await(initiator.connect(throughThePath()));
            served = target.allocate(bytes, RegionOptions.readWrite());
            local = initiator.allocate(bytes, RegionOptions.local());
            remote = Patience.await(connection.attach(served.descriptor()));
            assertThat(path.links()).hasSize(1 + lanes);
        }

        EngineAddress throughThePath() {
            return new EngineAddress("127.0.0.1", path.port(), target.id());
        }

        void submit(int count, int bytes) {
            for (int i = 0; i < count; i++) {
                CompletableFuture<Optional<SluiceException>> end = new CompletableFuture<>();
                ends.add(end);
                TransferOptions options = TransferOptions.defaults();
                if (i % 2 == 0) {
                    connection.write(local, 0, remote, 0, bytes, options, (transfer, error) -> signal(end, error));
                } else {
                    connection.read(local, 0, remote, 0, bytes, options, (transfer, error) -> signal(end, error));
                }
            }
        }

        private void signal(CompletableFuture<Optional<SluiceException>> end, SluiceException error) {
            if (!end.complete(Optional.ofNullable(error))) {
                extraSignals.incrementAndGet();
            }
        }

        /** Each once, typed; and nothing is left in flight. */
        void assertAllEnd() {
            for (CompletableFuture<Optional<SluiceException>> end : ends) {
                Patience.await(end).ifPresent(error -> assertThat(error).isInstanceOf(ConnectionLostException.class));
            }
            Patience.await(connection.quiesced());
            assertThat(extraSignals).hasValue(0);
            assertThat(connection.window().operations()).isZero();
            assertThat(connection.window().bytes()).isZero();
            assertThat(connection.pending()).isZero();
            Patience.await(local.close());
        }

        void assertLost() {
            Patience.failure(connection.ended(), ConnectionLostException.class);
            assertThat(connection.state()).isEqualTo(ConnectionState.LOST);
            // The other side notices by itself.
            Patience.until("the target has let go", () -> target.connections().isEmpty());
        }

        /** The other lanes have taken over: every transfer succeeds. */
        void assertGoesOn() {
            for (CompletableFuture<Optional<SluiceException>> end : ends) {
                assertThat(Patience.await(end)).isEmpty();
            }
            assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
        }

        @Override
        public void close() {
            Patience.await(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
            path.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void laneThatStallsIsNoticedThoughHeartbeatsPass(int lanes) {
        SteadyRounds.run(LIVENESS, liveness -> {
            try (Setting setting = new Setting(lanes, liveness)) {
                setting.submit(100, BYTES);
                Patience.await(setting.ends.getFirst());
                setting.path.links().getLast().stall();
                setting.submit(100, BYTES);
                setting.assertAllEnd();
                if (lanes == 1) {
                    setting.assertLost();
                } else {
                    setting.assertGoesOn();
                }
            }
        });
    }

    @Test
    void pathThatIsCutSilently() {
        SteadyRounds.run(LIVENESS, liveness -> {
            try (Setting setting = new Setting(2, liveness)) {
                setting.submit(100, BYTES);
                Patience.await(setting.ends.getFirst());
                setting.path.links().forEach(FaultyPath.Link::stall);
                setting.submit(100, BYTES);
                setting.assertAllEnd();
                setting.assertLost();
                Connection again = Patience.await(setting.initiator.connection(setting.throughThePath()));
                RemoteRegion remote = Patience.await(again.attach(setting.served.descriptor()));
                MemoryRegion source = setting.initiator.allocate(64, RegionOptions.local());
                CompletableFuture<Void> written = new CompletableFuture<>();
                again.write(source, 0, remote, 0, 64, TransferOptions.defaults(), (transfer, error) -> {
                    if (error == null) {
                        written.complete(null);
                    } else {
                        written.completeExceptionally(error);
                    }
                });
                Patience.await(written);
            }
        });
    }

    @Test
    void controlChannelThatStallsWhileTheLanesFlow() {
        SteadyRounds.run(LIVENESS, liveness -> {
            try (Setting setting = new Setting(1, liveness)) {
                setting.path.links().getFirst().stall();
                setting.submit(20, BYTES);
                setting.assertAllEnd();
                setting.assertLost();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void socketThatIsReset(int link) {
        // a reset is noticed at once, not by a time-out
        try (Setting setting = new Setting(2, PATIENT)) {
            setting.submit(200, BYTES);
            Patience.await(setting.ends.getFirst());
            setting.path.links().get(link).reset();
            setting.assertAllEnd();
            if (link == 0) {
                setting.assertLost();
            } else {
                setting.assertGoesOn();
            }
        }
    }

    @Test
    void hiccupShorterThanTheLivenessTimeoutIsForgiven() {
        SteadyRounds.run(LIVENESS.multipliedBy(3), liveness -> {
            // a heartbeat is missed, and there is time left for a machine that is busy besides
            try (Setting setting = new Setting(2, liveness)) {
                setting.submit(100, BYTES);
                Patience.await(setting.ends.getFirst());
                setting.path.links().forEach(FaultyPath.Link::stall);
                Patience.pause(liveness.dividedBy(4));
                setting.path.links().forEach(FaultyPath.Link::resume);
                setting.submit(20, BYTES);
                setting.assertGoesOn();
            }
        });
    }

    @Test
    void slowLaneIsNotTakenForADeadOne() {
        SteadyRounds.run(LIVENESS.multipliedBy(3).dividedBy(2), liveness -> {
            // About 1.6 MB/s, and as much as takes twice the liveness time-out at least.
            int bytes = Math.toIntExact(2 * liveness.toNanos() / SLOW_PIECE_NANOS * FaultyPath.SLOW_PIECE_BYTES);
            // With small buffers: a kernel that holds megabytes reports room, and so progress, once in a second at this
            // speed.
            try (Setting setting = new Setting(1, bytes, liveness, 128 << 10)) {
                setting.path.links().getLast().slowDown(SLOW_PIECE_NANOS);
                setting.submit(2, bytes);
                setting.assertGoesOn();
            }
        });
    }
}
