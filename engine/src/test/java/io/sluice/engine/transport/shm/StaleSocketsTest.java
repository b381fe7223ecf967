package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.jni.Errno;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sockets that killed processes leave in the directory where engines meet: they go, and no others do. */
class StaleSocketsTest {
    private static final String NAME = "sluice-0123456789abcdef0123456789abcde";

    private Path folder;

    @BeforeEach
    void makeFolder() throws IOException {
        // A socket's path is short, and so is that of the directory.
        folder = Files.createTempDirectory("sluice-meet");
    }

    @AfterEach
    void removeFolder() throws IOException {
        for (Path each : list()) {
            Files.delete(each);
        }
        Files.delete(folder);
    }

    @Test
    void onlyThoseThatNoProcessHasOpenAreRemoved() throws IOException {
        Path stale = leave(NAME + "0");
        Path foreign = leave("another-0123456789abcdef0123456789abcdef");
        Path file = Files.writeString(folder.resolve(NAME + "1"), "no socket");
        Path alive = folder.resolve(NAME + "2");
        int listening = LocalSockets.listen(alive.toString().getBytes(StandardCharsets.UTF_8));
        assertThat(listening).isNotNegative();
        try (TransferEngine engine = open()) {
            assertThat(list()).doesNotContain(stale).contains(foreign, file, alive);
            // Its owner has not been asked anything.
            assertThat(LocalSockets.accept(listening)).isEqualTo(-Errno.EAGAIN);
        } finally {
            Sockets.close(listening);
        }
        try (TransferEngine engine = open()) {
            assertThat(list()).containsExactlyInAnyOrder(foreign, file);
        }
    }

    private TransferEngine open() {
        return TransferEngine.open(EngineOptions.builder()
                .transports(List.of("shm", "tcp"))
                .transport(ShmOptions.builder().directory(folder.toString()).build())
                .build());
    }

    /** As a process that is killed does. */
    private Path leave(String name) throws IOException {
        Path socket = folder.resolve(name);
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
        }
        assertThat(socket).exists();
        return socket;
    }

    private List<Path> list() throws IOException {
        try (var files = Files.list(folder)) {
            return files.toList();
        }
    }
}
