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
import java.time.Duration;
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

    private static MemoryRegion on(TransferEngine engine, String device) {
        return engine.allocate(4096, RegionOptions.readWrite().on(MemoryKind.CUDA, device));
    }

    /** A kernel that does not end keeps a driver from giving memory back. */
    @Test
    void closeOfMemoryThatADeviceHoldsUpFailsInTimeAndHoldsUpNoOther() {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of(UntouchedMemoryTransportProvider.NAME))
                .livenessTimeout(Duration.ofMillis(200))
                .build());
        MemoryRegion held = on(engine, UntouchedMemoryTransportProvider.HELD_UP);
        MemoryRegion other = on(engine, "GPU-8c7a1d2e-0000-0000-0000-000000000001");
        MemoryRegion host = engine.allocate(4096, RegionOptions.readWrite());
        try {
            CompletableFuture<Void> closed = held.close();
            Patience.await(other.close());
            Patience.await(host.close());
            assertThat(Patience.failure(closed, SluiceException.class)).hasMessageContaining("not released yet");
            Patience.await(engine.closeAsync());
            assertThat(UntouchedMemoryTransportProvider.givenBack()).isZero();
        } finally {
            UntouchedMemoryTransportProvider.letGo(1);
        }
        Patience.until("it is given back", () -> UntouchedMemoryTransportProvider.givenBack() == 1);
    }
}
