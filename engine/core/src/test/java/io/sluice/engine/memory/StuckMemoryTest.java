package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Memory that cannot be given back. */
class StuckMemoryTest {
    /** The peer says nothing, so that the attempt would take until the time-out. */
    @Test
    void closingEngineEndsAttemptsToConnect() throws IOException {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of(UntouchedMemoryTransportProvider.NAME))
                .build());
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            MemoryRegion stuck = engine.allocate(
                    4096, RegionOptions.readWrite().on(MemoryKind.CUDA, UntouchedMemoryTransportProvider.STUCK));
            MemoryRegion other = engine.allocate(4096, RegionOptions.readWrite());
            CompletableFuture<Connection> connecting = engine.connect(
                    EngineAddress.parse(silent.getInetAddress().getHostAddress() + ":" + silent.getLocalPort()));
            try (Socket peer = silent.accept()) {
                Patience.await(engine.closeAsync());
                Patience.failure(connecting, SluiceException.class);
                assertThat(peer.getInputStream().readAllBytes()).isNotNull();
            }
            Patience.failure(stuck.close(), SluiceException.class);
            Patience.await(other.close());
        }
    }
}
