package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.jni.Errno;
import io.sluice.jni.Memory;
import io.sluice.jni.Sockets;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An access one byte beyond a region's file is stopped, at its owner and at its peers: the kernel, asked to send
 * that byte, refuses.
 */
class ShmGuardPagesTest {
    @ParameterizedTest
    @ValueSource(longs = {8, 4088, 4096, 100_000})
    void bothMappingsOfARegionAreGuarded(long bytes) throws IOException {
        Set<Long> before = new HashSet<>(mappings());
        try (ShmPair pair = ShmPair.open(bytes)) {
            long fileBytes = (bytes + Memory.pageSize() - 1) / Memory.pageSize() * Memory.pageSize();
            List<Long> mapped = new ArrayList<>(mappings());
            mapped.removeAll(before);

            // the owner's, and the one of the connection to it
            assertThat(mapped).hasSize(2).contains(pair.region().segment().address());
            for (long address : mapped) {
                assertThat(send(address - 1)).isEqualTo(-Errno.EFAULT);
                assertThat(send(address)).isEqualTo(1);
                assertThat(send(address + fileBytes - 1)).isEqualTo(1);
                assertThat(send(address + fileBytes)).isEqualTo(-Errno.EFAULT);
            }
        }
    }

    /** Of two consecutive regions one stands at the page before, and one at the page after. */
    @ParameterizedTest
    @ValueSource(longs = {8, 4088, 4096, 100_000})
    void guardedTransportPutsRegionsAtTheGuards(long bytes) throws IOException {
        EngineOptions options = PatientOptions.builder()
                .transports(List.of(GuardedShmTransportProvider.NAME))
                .build();
        boolean before = false;
        boolean after = false;
        try (TransferEngine engine = TransferEngine.open(options)) {
            for (RegionOptions kind :
                    List.of(RegionOptions.readWrite(), RegionOptions.readWrite(), RegionOptions.local())) {
                MemoryRegion region = engine.allocate(bytes, kind);
                long address = region.segment().address();
                before |= send(address - 1) == -Errno.EFAULT;
                after |= send(address + bytes) == -Errno.EFAULT;
                region.segment().fill((byte) 7);
                Patience.await(region.close());
            }
        }
        assertThat(before).isTrue();
        assertThat(after).isTrue();
    }

    private static long send(long address) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 4, InetAddress.getLoopbackAddress())) {
            int descriptor = Sockets.openStream(false);
            Sockets.connect(descriptor, server.getInetAddress().getAddress(), 0, server.getLocalPort());
            try (Socket accepted = server.accept()) {
                assertThat(accepted.isConnected()).isTrue();
                return Sockets.send(descriptor, address, 1);
            } finally {
                Sockets.close(descriptor);
            }
        }
    }

    /** The addresses of this process's mappings of regions' files. */
    private static List<Long> mappings() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> line.contains("sluice-region"))
                .map(line -> Long.parseUnsignedLong(line.substring(0, line.indexOf('-')), 16))
                .toList();
    }
}
