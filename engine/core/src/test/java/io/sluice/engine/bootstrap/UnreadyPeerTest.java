package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.session.LinkedEngines;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A connection that is being set up keeps to the engine's limits already, and may do nothing yet. */
class UnreadyPeerTest {
    private static final int MAX_CONNECTIONS = 3;
    private static final long LIVENESS_MILLIS = 10_000;

    private final List<HandWrittenPeer> peers = new ArrayList<>();
    private TransferEngine engine;
    private int port;

    @BeforeEach
    void open() {
        // its peers send no signs of life
        engine = LinkedEngines.open(options -> options.livenessTimeout(Duration.ofHours(1))
                .handshakeTimeout(Patience.BOUND)
                .maxConnections(MAX_CONNECTIONS));
        port = engine.address().port();
    }

    @AfterEach
    void close() throws Exception {
        for (HandWrittenPeer peer : peers) {
            peer.close();
        }
        LinkedEngines.get(engine.closeAsync());
    }

    private HandWrittenPeer peer(long livenessMillis) throws IOException {
        HandWrittenPeer peer = new HandWrittenPeer(port, livenessMillis);
        peers.add(peer);
        return peer;
    }

    @Test
    void cannotAttachBeforeItIsReady() throws Exception {
        MemoryRegion region = engine.allocate(1 << 20, RegionOptions.readWrite());
        HandWrittenPeer peer = peer(LIVENESS_MILLIS);
        peer.openLane();
        peer.send(
                MessageType.ATTACH,
                ByteBuffer.allocate(8 + region.descriptor().toBytes().length)
                        .putLong(0)
                        .put(region.descriptor().toBytes())
                        .array());
        assertThatThrownBy(() -> peer.receive(MessageType.ATTACH_RESULT))
                .as("the engine hangs up")
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(SocketTimeoutException.class);
        Patience.await(region.close());
    }

    @Test
    void connectionsThatAreBeingSetUpCount() throws Exception {
        for (int i = 0; i < MAX_CONNECTIONS; i++) {
            peer(LIVENESS_MILLIS);
        }
        assertThat(engine.connections()).isEmpty();
        assertThatThrownBy(() -> new HandWrittenPeer(port, LIVENESS_MILLIS))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("maxConnections");
        for (HandWrittenPeer peer : peers) {
            peer.openLane();
            peer.send(MessageType.READY, new byte[0]);
        }
        awaitConnections(MAX_CONNECTIONS);

        peers.removeFirst().close();
        awaitConnections(MAX_CONNECTIONS - 1);
        peer(LIVENESS_MILLIS);
    }

    @Test
    void ownConnectsCountAsWell() throws Exception {
        for (int i = 0; i < MAX_CONNECTIONS; i++) {
            peer(LIVENESS_MILLIS);
        }
        assertThatThrownBy(() -> LinkedEngines.get(engine.connect(engine.address())))
                .hasCauseInstanceOf(ConnectFailedException.class)
                .hasMessageContaining("maxConnections");
    }

    @Test
    void livenessOfAMillisecondIsRefused() throws Exception {
        assertThatThrownBy(() -> new HandWrittenPeer(port, 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not 100 to");
        peer(100);
    }

    /** The path cannot be set up on this side: the peer hears why, and not only that a socket has closed. */
    @Test
    void isToldWhyItsConnectionIsGivenUp() throws Exception {
        HandWrittenPeer peer = new HandWrittenPeer(port, LIVENESS_MILLIS, 0);
        peers.add(peer);
        assertThat(new String(peer.receive(MessageType.GIVE_UP), StandardCharsets.UTF_8))
                .contains("tcp offer is out of range");
    }

    private void awaitConnections(int count) {
        Patience.until(count + " connections", () -> engine.connections().size() == count);
    }
}
