package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transfers end when the network between two healthy engines does not do its part. */
class FaultyPathTest {
    private static final Duration LIVENESS = Duration.ofMillis(1500);
    private static final long PATIENCE_SECONDS = 60;
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

        Setting(int lanes, int bytes) throws Exception {
            this(lanes, bytes, 0);
        }

        Setting(int lanes, int bytes, int socketBufferBytes) throws Exception {
            EngineOptions options = EngineOptions.builder()
                    .transports(List.of("tcp"))
                    .lanes(lanes)
                    .socketBufferBytes(socketBufferBytes)
                    .livenessTimeout(LIVENESS)
                    .connectTimeout(Duration.ofSeconds(5))
                    .build();
            target = TransferEngine.open(options);
            initiator = TransferEngine.open(options);
            path.leadsTo(target.address().port());
            connection = get(initiator.connect(throughThePath()));
            served = target.allocate(bytes, RegionOptions.readWrite());
            local = initiator.allocate(bytes, RegionOptions.local());
            remote = get(connection.attach(served.descriptor()));
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
        void assertAllEnd() throws Exception {
            for (CompletableFuture<Optional<SluiceException>> end : ends) {
                get(end).ifPresent(error -> assertThat(error).isInstanceOf(ConnectionLostException.class));
            }
            get(connection.quiesced());
            assertThat(extraSignals).hasValue(0);
            assertThat(connection.window().operations()).isZero();
            assertThat(connection.window().bytes()).isZero();
            assertThat(connection.pending()).isZero();
            get(local.close());
        }

        void assertLost() {
            assertThatThrownBy(() -> get(connection.ended())).hasCauseInstanceOf(ConnectionLostException.class);
            assertThat(connection.state()).isEqualTo(ConnectionState.LOST);
            // The other side notices by itself.
            Awaitility.await()
                    .atMost(Duration.ofSeconds(PATIENCE_SECONDS))
                    .until(() -> target.connections().isEmpty());
        }

        /** The other lanes have taken over: nobody notices. */
        void assertGoesOn() throws Exception {
            for (CompletableFuture<Optional<SluiceException>> end : ends) {
                assertThat(get(end)).isEmpty();
            }
            assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
        }

        @Override
        public void close() throws Exception {
            get(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
            path.close();
        }
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void laneThatStallsIsNoticedThoughHeartbeatsPass(int lanes) throws Exception {
        try (Setting setting = new Setting(lanes, BYTES)) {
            setting.submit(100, BYTES);
            get(setting.ends.getFirst());
            setting.path.links().getLast().stall();
            setting.submit(100, BYTES);
            setting.assertAllEnd();
            if (lanes == 1) {
                setting.assertLost();
            } else {
                setting.assertGoesOn();
            }
        }
    }

    @Test
    void pathThatIsCutSilently() throws Exception {
        try (Setting setting = new Setting(2, BYTES)) {
            setting.submit(100, BYTES);
            get(setting.ends.getFirst());
            setting.path.links().forEach(FaultyPath.Link::stall);
            setting.submit(100, BYTES);
            setting.assertAllEnd();
            setting.assertLost();
            Connection again = get(setting.initiator.connection(setting.throughThePath()));
            RemoteRegion remote = get(again.attach(setting.served.descriptor()));
            MemoryRegion source = setting.initiator.allocate(64, RegionOptions.local());
            CompletableFuture<Void> written = new CompletableFuture<>();
            again.write(source, 0, remote, 0, 64, TransferOptions.defaults(), (transfer, error) -> {
                if (error == null) {
                    written.complete(null);
                } else {
                    written.completeExceptionally(error);
                }
            });
            get(written);
        }
    }

    @Test
    void controlChannelThatStallsWhileTheLanesFlow() throws Exception {
        try (Setting setting = new Setting(1, BYTES)) {
            setting.path.links().getFirst().stall();
            setting.submit(20, BYTES);
            setting.assertAllEnd();
            setting.assertLost();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void socketThatIsReset(int link) throws Exception {
        try (Setting setting = new Setting(2, BYTES)) {
            setting.submit(200, BYTES);
            get(setting.ends.getFirst());
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
    void hiccupShorterThanTheLivenessTimeoutIsForgiven() throws Exception {
        try (Setting setting = new Setting(2, BYTES)) {
            setting.submit(100, BYTES);
            get(setting.ends.getFirst());
            setting.path.links().forEach(FaultyPath.Link::stall);
            Thread.sleep(LIVENESS.dividedBy(4));
            setting.path.links().forEach(FaultyPath.Link::resume);
            setting.submit(20, BYTES);
            for (CompletableFuture<Optional<SluiceException>> end : setting.ends) {
                assertThat(get(end)).isEmpty();
            }
            assertThat(setting.connection.state()).isEqualTo(ConnectionState.OPEN);
        }
    }

    @Test
    void slowLaneIsNotTakenForADeadOne() throws Exception {
        int bytes = 6 << 20;
        // With small buffers: a kernel that holds megabytes reports room, and so progress, once in a second at this
        // speed.
        try (Setting setting = new Setting(1, bytes, 128 << 10)) {
            // About 1.5 MB/s, so that the whole takes several times the liveness time-out.
            setting.path.links().getLast().slowDown(40_000_000);
            setting.submit(2, bytes);
            for (CompletableFuture<Optional<SluiceException>> end : setting.ends) {
                assertThat(get(end)).isEmpty();
            }
            assertThat(setting.connection.state()).isEqualTo(ConnectionState.OPEN);
        }
    }
}
