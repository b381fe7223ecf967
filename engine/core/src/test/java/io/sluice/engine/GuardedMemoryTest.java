package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GuardedMemoryTest {
    /** Of two consecutive instances one stands at the page before and one at the page after. */
    @ParameterizedTest
    @ValueSource(longs = {8, 4088, 4096, 4104, 100_000})
    void whoLeavesItIsStopped(long bytes) throws IOException {
        boolean before = false;
        boolean after = false;
        try (ServerSocket server = new ServerSocket(0, 4, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < 2; i++) {
                int descriptor = Sockets.openStream(false);
                Sockets.connect(descriptor, server.getInetAddress().getAddress(), 0, server.getLocalPort());
                try (Socket accepted = server.accept()) {
                    assertThat(accepted.isConnected()).isTrue();
                    MemorySegment memory = GuardedMemory.allocate(bytes);
                    memory.fill((byte) 7);
                    assertThat(memory.get(ValueLayout.JAVA_BYTE, bytes - 1)).isEqualTo((byte) 7);
                    before |= Sockets.send(descriptor, memory.address() - 1, 1) == -Errno.EFAULT;
                    after |= Sockets.send(descriptor, memory.address() + bytes, 1) == -Errno.EFAULT;
                } finally {
                    Sockets.close(descriptor);
                }
            }
        }
        assertThat(before).isTrue();
        assertThat(after).isTrue();
    }
}
