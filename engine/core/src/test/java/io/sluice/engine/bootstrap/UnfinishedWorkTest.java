package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.control.MessageType;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A closing engine waits for no peer that may never answer, and leaves no caller waiting. */
class UnfinishedWorkTest {
    private final CapturedLog log = CapturedLog.warnings();
    private final int before = OpenDescriptors.count();

    @AfterEach
    void nothingIsLeftOpen() {
        log.close();
        log.assertNoErrors();
    }

    /** Its time-outs are longer than any wait of these tests. */
    private static TransferEngine patientEngine() {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("tcp"))
                .lanes(2)
                .pollers(2)
                .connectTimeout(Duration.ofHours(1))
                .livenessTimeout(Duration.ofHours(1))
                .build());
    }

    private static List<CompletableFuture<Connection>> connects(TransferEngine engine, EngineAddress address) {
        List<CompletableFuture<Connection>> connecting = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            connecting.add(engine.connect(address));
        }
        return connecting;
    }

    private void assertClosesPromptly(TransferEngine engine, List<CompletableFuture<Connection>> connecting) {
        assertThat(connecting).noneMatch(CompletableFuture::isDone);
        Patience.await(engine.closeAsync());
        connecting.forEach(each -> Patience.failure(each, ConnectionClosedException.class));
    }

    @Test
    void connectsToAPortThatAcceptsAndNeverAnswers() throws Exception {
        TransferEngine engine = patientEngine();
        try (ServerSocket silent = new ServerSocket(0, 64, InetAddress.getLoopbackAddress())) {
            List<CompletableFuture<Connection>> connecting =
                    connects(engine, EngineAddress.of("127.0.0.1", silent.getLocalPort()));
            silent.setSoTimeout(Math.toIntExact(Patience.BOUND.toMillis()));
            List<Socket> accepted = new ArrayList<>();
            for (int i = 0; i < connecting.size(); i++) {
                accepted.add(silent.accept());
            }
            assertClosesPromptly(engine, connecting);
            for (Socket socket : accepted) {
                MessageSocket.awaitEnd(socket);
                socket.close();
            }
        }
        OpenDescriptors.assertSettleAt(before);
    }

    /** The kernel itself does not answer: the listener's queue is full. */
    @Test
    void connectsToAPortWhoseQueueIsFull() throws Exception {
        TransferEngine engine = patientEngine();
        List<Socket> queued = new ArrayList<>();
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            try {
                for (int i = 0; i < 10; i++) {
                    Socket socket = new Socket();
                    queued.add(socket);
                    socket.connect(new InetSocketAddress(full.getInetAddress(), full.getLocalPort()), 300);
                }
            } catch (IOException nowItIsFull) {
                // As wanted.
            }
            List<CompletableFuture<Connection>> connecting =
                    connects(engine, EngineAddress.of("127.0.0.1", full.getLocalPort()));
            Patience.pause(Duration.ofMillis(50));
            assertClosesPromptly(engine, connecting);
        } finally {
            for (Socket socket : queued) {
                socket.close();
            }
        }
        OpenDescriptors.assertSettleAt(before);
    }

    @Test
    void connectWhoseLanesAreNeverAccepted() {
        TransferEngine engine = patientEngine();
        try (RawAcceptor acceptor = new RawAcceptor().lanes(2)) {
            CompletableFuture<Connection> connecting = engine.connect(acceptor.address());
            acceptor.bootstrap();
            acceptor.accept();
            acceptor.accept();
            assertThat(connecting).isNotDone();
            Patience.await(engine.closeAsync());
            Patience.failure(connecting, SluiceException.class);
        }
        OpenDescriptors.assertSettleAt(before);
    }

    @Test
    void peersThatSayNothingOrHalfAWord() {
        TransferEngine engine = patientEngine();
        List<RawPeer> peers = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            RawPeer peer = new RawPeer(engine.address());
            peers.add(peer);
            switch (i % 4) {
                case 0 -> {}
                case 1 -> peer.control().sendRaw(MessageSocket.header(0x534C, 1, MessageType.HELLO, 100));
                case 2 -> {
                    peer.hello();
                    peer.welcomed();
                }
                default -> {
                    peer.lanes(2);
                    peer.hello();
                    peer.welcomed();
                    peer.authenticate();
                    peer.accepted();
                    peer.openLane(0);
                }
            }
        }
        Patience.await(engine.closeAsync());
        peers.forEach(peer -> peer.control().awaitEnd());
        peers.forEach(RawPeer::close);
        OpenDescriptors.assertSettleAt(before);
    }

    @Test
    void peersThatDoNotAnswerAGoodbye() {
        TransferEngine engine = patientEngine();
        List<RawPeer> peers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            RawPeer peer = new RawPeer(engine.address());
            peers.add(peer.connect());
            peer.in(engine);
        }
        Patience.await(engine.closeAsync());
        peers.forEach(peer -> peer.control().receive(MessageType.GOODBYE));
        peers.forEach(RawPeer::close);
        OpenDescriptors.assertSettleAt(before);
    }

    /** The close overtakes the connect at every place where it can. */
    @Test
    void connectAndCloseAtTheSameTime() throws Exception {
        try (TransferEngine target = patientEngine()) {
            int open = OpenDescriptors.count();
            for (int round = 0; round < 150; round++) {
                TransferEngine engine = patientEngine();
                List<CompletableFuture<Connection>> connecting = new ArrayList<>();
                Thread connects = Thread.ofPlatform().daemon().unstarted(() -> {
                    for (int i = 0; i < 3; i++) {
                        connecting.add(attempt(engine, target.address()));
                    }
                });
                connects.start();
                if (round % 3 == 1) {
                    Thread.yield();
                } else if (round % 3 == 2) {
                    Patience.pause(Duration.ofNanos(round * 20_000L));
                }
                CompletableFuture<Void> closed = engine.closeAsync();
                Patience.join(connects);
                Patience.await(closed);
                for (CompletableFuture<Connection> each : connecting) {
                    assertEndsTyped(each);
                }
                log.assertNoErrors();
            }
            Patience.until("the target has noticed", () -> target.connections().isEmpty());
            OpenDescriptors.assertSettleAt(open);
        }
    }

    private static CompletableFuture<Connection> attempt(TransferEngine engine, EngineAddress address) {
        try {
            return engine.connect(address);
        } catch (RuntimeException thrown) {
            // A connect reports its failure in its future, and in no other way.
            return CompletableFuture.failedFuture(new AssertionError("connect has thrown", thrown));
        }
    }

    private static void assertEndsTyped(CompletableFuture<Connection> connecting) {
        try {
            Patience.await(connecting);
        } catch (ConnectionClosedException | ConnectFailedException typed) {
            // Which of them depends on who was first.
        } catch (CompletionException e) {
            throw new AssertionError("not typed", e);
        }
    }
}
