package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.Filling;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** Two hosts, as network namespaces, with a network between them that loses and delays packets in both directions. */
@Tag("softroce-netem")
class LossyNetworkTest {
    private static final int DELAY_MILLIS = 5;
    private static final int LOSS_PERCENT = 2;
    private static final int ALL = 100;
    private static final int ROUNDS = 20;
    // the peer reads and writes in the first half of its region
    private static final long OFFSET = DyingPeer.BYTES / 2;
    private static final int LARGEST = 65_537;
    private static final int[] SIZES = {1, 512, 4097, LARGEST};
    /** Such a network carries little more than a megabyte a second, and a round waits behind what the peer moves. */
    private static final long PEERS_BYTES = 16 << 10;

    private static final Map<String, String> SETTINGS = Map.of(
            DyingPeer.LARGER_BYTES,
            Long.toString(PEERS_BYTES),
            "SLUICE_TRANSPORTS",
            "tcp",
            "SLUICE_ALLOW_UNAUTHENTICATED_PEERS",
            "true",
            // Where the whole machine is emulated, what is alive may be silent for long.
            "SLUICE_CONNECT_TIMEOUT",
            "40s",
            "SLUICE_HANDSHAKE_TIMEOUT",
            "40s",
            "SLUICE_LIVENESS_TIMEOUT",
            "20s");

    /** A namespace behind such a network. */
    private static NetworkNamespace lossy() {
        assumeThat(NetworkNamespace.isPossible())
                .as("network namespaces can be made (root, iproute2)")
                .isTrue();
        NetworkNamespace outside = NetworkNamespace.open();
        if (!outside.impair(DELAY_MILLIS, LOSS_PERCENT)) {
            outside.close();
            throw new TestAbortedException("the kernel has no netem (module sch_netem), or tc is not installed");
        }
        return outside;
    }

    @Test
    void everythingArrivesAndTheEndOfThePeerIsNoticed() {
        try (NetworkNamespace outside = lossy();
                TransferEngine engine = open();
                DyingPeerProcess peer = DyingPeerProcess.start(SETTINGS, outside.command())) {
            Connection connection = writeAndReadBack(engine, peer);
            assertThat(outside.lost()).as("packets that the network lost").isPositive();
            peer.kill();
            assertEndIsNoticed(connection);
        }
    }

    @Test
    void theEndOfTheNetworkIsNoticed() {
        try (NetworkNamespace outside = lossy();
                TransferEngine engine = open();
                DyingPeerProcess peer = DyingPeerProcess.start(SETTINGS, outside.command())) {
            Connection connection = writeAndReadBack(engine, peer);
            assertThat(outside.impair(DELAY_MILLIS, ALL)).isTrue();
            assertEndIsNoticed(connection);
        }
    }

    private static TransferEngine open() {
        return TransferEngine.open(PatientOptions.builder()
                .environment(SETTINGS)
                .listen(NetworkNamespace.ADDRESS, 0)
                .build());
    }

    /** Has the peer connect and transfer without end, and moves bytes there and back meanwhile. */
    private static Connection writeAndReadBack(TransferEngine engine, DyingPeerProcess peer) {
        BlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
        engine.onConnection(accepted::add);
        MemoryRegion served = engine.allocate(DyingPeer.BYTES, RegionOptions.readWrite());
        RegionDescriptor theirs = peer.connectTo(engine, served.descriptor(), 1);
        Connection connection = Patience.take("the peer's connection", accepted);
        MemoryRegion source = engine.allocate(LARGEST, RegionOptions.local());
        MemoryRegion back = engine.allocate(LARGEST, RegionOptions.local());
        RemoteRegion remote = Patience.await(connection.attach(theirs));
        for (int round = 0; round < ROUNDS; round++) {
            int bytes = SIZES[round % SIZES.length];
            Filling.fill(source.segment(), round);
            await(ended -> connection.write(source, 0, remote, OFFSET, bytes, TransferOptions.defaults(), ended));
            await(ended -> connection.read(back, 0, remote, OFFSET, bytes, TransferOptions.defaults(), ended));
            Filling.assertFilled(back.segment(), round, 0, bytes);
        }
        return connection;
    }

    private static void await(Consumer<TransferCallback> started) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        started.accept((transfer, error) -> {
            if (error == null) {
                ended.complete(null);
            } else {
                ended.completeExceptionally(error);
            }
        });
        Patience.await(ended);
    }

    private static void assertEndIsNoticed(Connection connection) {
        Patience.failure(connection.ended(), ConnectionLostException.class);
        Patience.await(connection.quiesced());
    }
}
