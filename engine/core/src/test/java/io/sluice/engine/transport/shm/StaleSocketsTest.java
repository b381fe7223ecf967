package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.TransferEngine;
import io.sluice.jni.Errno;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.Sockets;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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
        Path young = leave(NAME + "3");
        for (Path old : List.of(stale, foreign, file, alive)) {
            makeOld(old);
        }
        try (TransferEngine engine = open()) {
            assertThat(list()).doesNotContain(stale).contains(foreign, file, alive, young);
            // Its owner has not been asked anything.
            assertThat(LocalSockets.accept(listening)).isEqualTo(-Errno.EAGAIN);
        } finally {
            Sockets.close(listening);
        }
        makeOld(young);
        try (TransferEngine engine = open()) {
            assertThat(list()).containsExactlyInAnyOrder(foreign, file);
        }
    }

    @Test
    void oneOfAnotherProgramThatTakesNoConnectionHoldsNothingUp() throws IOException {
        Path foreign = folder.resolve(NAME + "4");
        List<SocketChannel> waiting = new ArrayList<>();
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(foreign), 1);
            makeOld(foreign);
            boolean full = false;
            while (!full) {
                SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX);
                waiting.add(client);
                client.configureBlocking(false);
                try {
                    full = !client.connect(UnixDomainSocketAddress.of(foreign));
                } catch (IOException e) {
                    full = true;
                }
            }
            try (TransferEngine engine = Patience.await(CompletableFuture.supplyAsync(this::open))) {
                assertThat(list()).contains(foreign);
            }
        } finally {
            for (SocketChannel each : waiting) {
                each.close();
            }
        }
    }

    private static void makeOld(Path socket) throws IOException {
        Files.setLastModifiedTime(socket, FileTime.from(Instant.now().minus(Duration.ofHours(2))));
    }

    private TransferEngine open() {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp"))
                .transport(ShmOptions.builder().directory(folder.toString()).build())
                .build());
    }

    /** Leaves a socket behind, as a killed process does. */
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
