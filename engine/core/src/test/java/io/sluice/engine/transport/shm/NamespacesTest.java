package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes in two network namespaces of one host, as in two containers. */
class NamespacesTest {
    private static final long NUMBER = 4711;

    /** A peer in another namespace connects; what the connection is like on this side. */
    private static Connection connectedFromOutside(@Nullable String here, @Nullable String there) {
        assumeThat(NetworkNamespace.isPossible())
                .as("network namespaces can be made (root, iproute2)")
                .isTrue();
        ShmOptions.Builder shm = ShmOptions.builder();
        if (here != null) {
            shm.directory(here);
        }
        Map<String, String> environment =
                new HashMap<>(Map.of("SLUICE_TRANSPORTS", "shm,tcp", "SLUICE_ALLOW_UNAUTHENTICATED_PEERS", "true"));
        if (there != null) {
            environment.put("SLUICE_SHM_DIRECTORY", there);
        }
        BlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
        try (NetworkNamespace outside = NetworkNamespace.open();
                TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                        .transports(List.of("shm", "tcp"))
                        .listen(NetworkNamespace.ADDRESS, 0)
                        .allowUnauthenticatedPeers(true)
                        .transport(shm.build())
                        .build());
                DyingPeerProcess peer = DyingPeerProcess.start(environment, outside.command())) {
            engine.onConnection(accepted::add);
            MemoryRegion region = engine.allocate(DyingPeer.BYTES, RegionOptions.readWrite());
            peer.connectTo(engine, region.descriptor(), NUMBER);
            Connection connection = Patience.take("the peer's connection", accepted);
            assertThat(region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(NUMBER);
            return connection;
        }
    }

    private static void assertEmpty(Path directory) throws Exception {
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).as("sockets that stay behind").isEmpty();
        }
    }

    @Test
    void processesThatShareADirectoryTakeShm(@TempDir Path directory) throws Exception {
        Connection connection = connectedFromOutside(directory.toString(), directory.toString());
        assertThat(connection.transport()).isEqualTo("shm");
        assertEmpty(directory);
    }

    @Test
    void directoryMayHaveTwoNames(@TempDir Path directory) throws Exception {
        Path real = Files.createDirectory(directory.resolve("real"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), real);
        assertThat(connectedFromOutside(real.toString(), link.toString()).transport())
                .isEqualTo("shm");
        assertEmpty(real);
    }

    @Test
    void withoutADirectoryTheyTakeTcpAndSayWhy() {
        Connection connection = connectedFromOutside(null, null);
        assertThat(connection.transport()).isEqualTo("tcp");
        assertThat(connection.transportReason()).contains("network namespace").contains("SLUICE_SHM_DIRECTORY");
    }

    @Test
    void withTwoDirectoriesTheyTakeTcpAndSayWhy(@TempDir Path here, @TempDir Path there) throws Exception {
        Connection connection = connectedFromOutside(here.toString(), there.toString());
        assertThat(connection.transport()).isEqualTo("tcp");
        assertThat(connection.transportReason()).contains("network namespace");
        assertEmpty(here);
        assertEmpty(there);
    }
}
