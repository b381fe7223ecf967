package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Filling;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.Patience;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Two hosts, as network namespaces, with a network between them that loses and delays packets. */
class LossyNetworkTest {
    private static final int DELAY_MILLIS = 5;
    private static final int LOSS_PERCENT = 2;
    private static final int TRANSFERS = 50;

    @Test
    void everythingArrivesAndTheEndIsNoticed() throws InterruptedException {
        assumeThat(NetworkNamespace.isPossible())
                .as("network namespaces can be made (root, iproute2)")
                .isTrue();
        BlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
        try (NetworkNamespace outside = NetworkNamespace.open()) {
            assumeThat(outside.impair(DELAY_MILLIS, LOSS_PERCENT))
                    .as("the kernel has netem (module sch_netem), and tc is installed")
                    .isTrue();
            try (TransferEngine engine = TransferEngine.open(EngineOptions.builder()
                            .transports(List.of("tcp"))
                            .listen(NetworkNamespace.ADDRESS, 0)
                            .allowUnauthenticatedPeers(true)
                            .build());
                    DyingPeerProcess peer = DyingPeerProcess.start(
                            Map.of("SLUICE_TRANSPORTS", "tcp", "SLUICE_ALLOW_UNAUTHENTICATED_PEERS", "true"),
                            outside.command())) {
                engine.onConnection(accepted::add);
                MemoryRegion region = engine.allocate(DyingPeer.BYTES, RegionOptions.readWrite());
                RegionDescriptor theirs = peer.connectTo(engine, region.descriptor(), 1);
                Connection connection = accepted.poll(Patience.BOUND.toSeconds(), TimeUnit.SECONDS);
                assertThat(connection).isNotNull();
                MemoryRegion own = engine.allocate(DyingPeer.LARGE_BYTES, RegionOptions.local());
                Filling.fill(own.segment(), 3);
                RemoteRegion remote = Patience.get(connection.attach(theirs));
                for (int i = 0; i < TRANSFERS; i++) {
                    CompletableFuture<Void> written = new CompletableFuture<>();
                    connection.write(
                            own, 0, remote, 0, DyingPeer.SMALL_BYTES, TransferOptions.defaults(), (transfer, error) -> {
                                if (error == null) {
                                    written.complete(null);
                                } else {
                                    written.completeExceptionally(error);
                                }
                            });
                    Patience.get(written);
                }
                peer.kill();
                Patience.failure(connection.ended(), ConnectionLostException.class);
                Patience.get(connection.quiesced());
            }
        }
    }
}
