package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import io.sluice.testkit.SteadyRounds;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A peer that is alive and never gives the checksum that it is asked for. */
class SilentChecksumsTest {
    // longer than any wait
    private static final Duration NEVER = Duration.ofHours(1);
    // the peer's signs of life must come within it
    private static final Duration LIVENESS = Duration.ofSeconds(1);
    private static final Duration BEAT = Duration.ofMillis(100);
    private static final long PIECE = 1 << 20;

    private TransferEngine engine;
    private RawPeer peer;
    private Connection connection;

    private void connect(Duration liveness) {
        engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("tcp"))
                .livenessTimeout(liveness)
                .build());
        peer = new RawPeer(engine.address());
        peer.livenessMillis(60_000).connectKnowingChecksums();
        peer.beatEvery(BEAT);
        connection = peer.in(engine);
    }

    @AfterEach
    void close() {
        if (engine != null) {
            peer.close();
            Patience.await(engine.closeAsync());
        }
    }

    private CompletableFuture<Long> ask(long bytes) {
        RemoteRegion region = peer.attachedBy(connection, bytes);
        CompletableFuture<Long> asked = connection.checksum(region, 0, bytes);
        peer.control().receive(MessageType.CHECKSUM);
        return asked;
    }

    private void answer(int status) {
        peer.control()
                .send(
                        MessageType.CHECKSUM_RESULT,
                        ByteBuffer.allocate(ServedChecksums.ANSWER_BYTES)
                                .putLong(0)
                                .put((byte) status)
                                .putInt(7)
                                .array());
    }

    @Test
    void oneThatSaysNothing() {
        SteadyRounds.run(LIVENESS, liveness -> {
            close();
            connect(liveness);
            RemoteRegion region = peer.attachedBy(connection, PIECE);
            CompletableFuture<Long> first = connection.checksum(region, 0, PIECE);
            CompletableFuture<Long> second = connection.checksum(region, 0, PIECE);
            assertThat(Patience.failure(first, ConnectionLostException.class)).hasMessageContaining("does not answer");
            Patience.failure(second, ConnectionLostException.class);
        });
    }

    @Test
    void oneThatSaysForEverThatItIsUnderWay() {
        connect(NEVER);
        CompletableFuture<Long> asked = ask(10 * PIECE);
        Thread.ofVirtual().start(() -> {
            try {
                while (true) {
                    answer(ServedChecksums.UNDER_WAY);
                    Patience.pause(BEAT);
                }
            } catch (UncheckedIOException ended) {
                // as it should
            }
        });
        assertThat(Patience.failure(asked, ConnectionLostException.class)).hasMessageContaining("too often");
    }

    @Test
    void oneThatIsUnderWayAsOftenAsItMayIsWaitedFor() {
        connect(NEVER);
        CompletableFuture<Long> asked = ask(3 * PIECE);
        answer(ServedChecksums.UNDER_WAY);
        answer(ServedChecksums.UNDER_WAY);
        answer(0);
        assertThat(Patience.await(asked)).isEqualTo(7);
    }

    @Test
    void oneThatIsUnderWayWithASinglePieceIsNot() {
        connect(NEVER);
        CompletableFuture<Long> asked = ask(PIECE);
        answer(ServedChecksums.UNDER_WAY);
        Patience.failure(asked, ConnectionLostException.class);
    }
}
