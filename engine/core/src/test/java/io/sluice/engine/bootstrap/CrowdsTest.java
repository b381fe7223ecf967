package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.session.LinkedEngines;
import io.sluice.testkit.Patience;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** More sockets than may be between accept and bootstrap have to wait, and are not turned away. */
class CrowdsTest {
    private static final int MAX_HALF_OPEN = 64;

    private TransferEngine target;
    private TransferEngine initiator;

    @BeforeEach
    void open() {
        // the crowd itself must make room, and no time-out
        target =
                LinkedEngines.open(options -> options.maxHalfOpen(MAX_HALF_OPEN).handshakeTimeout(Duration.ofHours(1)));
        initiator = LinkedEngines.open(options -> options.noListener().connectTimeout(Patience.BOUND));
    }

    @AfterEach
    void close() throws Exception {
        LinkedEngines.get(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
    }

    @Test
    void burstOfConnects() throws Exception {
        int count = 4 * MAX_HALF_OPEN;
        List<CompletableFuture<Connection>> connects = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            connects.add(initiator.connect(target.address()));
        }
        for (CompletableFuture<Connection> connect : connects) {
            assertThat(LinkedEngines.get(connect).state()).isEqualTo(ConnectionState.OPEN);
        }
        assertThat(initiator.connections()).hasSize(count);
    }

    @Test
    void silentSocketsDoNotLockOthersOut() throws Exception {
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < MAX_HALF_OPEN; i++) {
                silent.add(new Socket(
                        InetAddress.getLoopbackAddress(), target.address().port()));
            }
            assertThat(LinkedEngines.get(initiator.connect(target.address())).state())
                    .isEqualTo(ConnectionState.OPEN);
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }
}
