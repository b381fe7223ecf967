package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.AuthenticationException;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** How connections come and go. */
interface ConnectingContract extends Contract {
    @Test
    default void transportIsAvailableHere() {
        assertThat(TransferEngine.transports()).anySatisfy(status -> {
            assertThat(status.name()).isEqualTo(transport().name());
            assertThat(status.isAvailable()).as(status.unavailable()).isTrue();
        });
    }

    @Test
    default void unknownTransportIsRefused() {
        assertThatThrownBy(() -> TransferEngine.open(transport()
                        .options()
                        .transports(List.of("carrier-pigeon"))
                        .build()))
                .isInstanceOf(TransportUnavailableException.class)
                .hasMessageContaining("carrier-pigeon");
    }

    @Test
    default void bothSidesKnowEachOther() {
        try (EnginePair pair = EnginePair.open(transport())) {
            Connection connection = pair.connection();
            assertThat(connection.peer()).isEqualTo(pair.target().id());
            assertThat(connection.peerEpoch()).isEqualTo(pair.target().epoch());
            assertThat(connection.transport()).isEqualTo(transport().name());
            assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
            assertThat(pair.accepted().peer()).isEqualTo(pair.initiator().id());
            assertThat(pair.accepted().peerEpoch()).isEqualTo(pair.initiator().epoch());
            assertThat(pair.accepted().transport()).isEqualTo(transport().name());
            assertThat(pair.initiator().connections()).containsExactly(connection);
            assertThat(pair.target().connections()).containsExactly(pair.accepted());
        }
    }

    @Test
    default void addressSurvivesItsTwoForms() {
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            EngineAddress address = engine.address();
            assertThat(address.engineId()).isEqualTo(engine.id());
            assertThat(EngineAddress.parse(address.toString())).isEqualTo(address);
            EngineAddress carried = EngineAddress.fromBytes(address.toBytes());
            assertThat(carried).isEqualTo(address);
            assertThat(await(engine.connect(carried)).peer()).isEqualTo(engine.id());
        }
    }

    @Test
    default void addressWithoutIdentityConnectsToWhicheverEngineAnswers() {
        try (EnginePair pair = EnginePair.open(transport())) {
            EngineAddress address = pair.target().address();
            EngineAddress withoutId = EngineAddress.of(address.host(), address.port());
            assertThat(await(pair.initiator().connect(withoutId)).peer())
                    .isEqualTo(pair.target().id());
        }
    }

    @Test
    default void addressOfAnotherEngineIsNotConnected() {
        try (EnginePair pair = EnginePair.open(transport())) {
            EngineAddress address = pair.target().address();
            EngineAddress stale = new EngineAddress(address.host(), address.port(), EngineId.random());
            failure(pair.initiator().connect(stale), ConnectFailedException.class);
        }
    }

    @Test
    default void connectMakesANewConnectionEachTime() {
        try (EnginePair pair = EnginePair.open(transport())) {
            Connection second = await(pair.initiator().connect(pair.target().address()));
            assertThat(second).isNotSameAs(pair.connection());
            assertThat(second.id()).isNotEqualTo(pair.connection().id());
            await(second.close());
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
            writesEightBytes(pair.initiator(), pair.connection(), pair.target());
        }
    }

    @Test
    default void cachedConnectionIsShared() {
        try (EnginePair pair = EnginePair.open(transport())) {
            TransferEngine engine = pair.initiator();
            EngineAddress address = pair.target().address();
            Connection first = await(engine.connection(address));
            assertThat(await(engine.connection(address))).isSameAs(first);
            await(first.close());
            Connection second = await(engine.connection(address));
            assertThat(second).isNotSameAs(first);
            assertThat(second.state()).isEqualTo(ConnectionState.OPEN);
            writesEightBytes(engine, second, pair.target());
        }
    }

    @Test
    default void concurrentCallsForTheCachedConnectionMakeOne() throws InterruptedException {
        try (TransferEngine target = TransferEngine.open(transport().options().build());
                TransferEngine engine =
                        TransferEngine.open(transport().options().build())) {
            List<Connection> accepted = new CopyOnWriteArrayList<>();
            target.onConnection(accepted::add);
            List<CompletableFuture<Connection>> futures = new CopyOnWriteArrayList<>();
            CountDownLatch go = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    await(go);
                    futures.add(engine.connection(target.address()));
                }));
            }
            go.countDown();
            threads.forEach(Patience::join);
            Set<Connection> connections = Collections.newSetFromMap(new IdentityHashMap<>());
            futures.forEach(future -> connections.add(await(future)));
            assertThat(futures).hasSize(16);
            assertThat(connections).hasSize(1);
            until("the target has accepted it", () -> !accepted.isEmpty());
            Patience.pause(Duration.ofMillis(50));
            assertThat(accepted).hasSize(1);
        }
    }

    @Test
    default void engineConnectsToItself() {
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            Connection connection = await(engine.connect(engine.address()));
            assertThat(connection.peer()).isEqualTo(engine.id());
            MemoryRegion source = filled(allocate(engine, 3 << 20, RegionOptions.local()), 1);
            MemoryRegion served = allocate(engine, 3 << 20, RegionOptions.readWrite());
            MemoryRegion back = allocate(engine, 3 << 20, RegionOptions.local());
            RemoteRegion remote = await(connection.attach(served.descriptor()));
            TerminalSignal written = new TerminalSignal();
            connection.write(source, 0, remote, 0, source.length(), TransferOptions.defaults(), written);
            written.awaitSuccess();
            TerminalSignal read = new TerminalSignal();
            connection.read(back, 0, remote, 0, back.length(), TransferOptions.defaults(), read);
            read.awaitSuccess();
            BytePattern.assertFilled(bytesOf(served), 1);
            BytePattern.assertFilled(bytesOf(back), 1);
            await(connection.close());
        }
    }

    @Test
    default void listenersHearOfAcceptedConnectionsOldAndNew() {
        try (EnginePair pair = EnginePair.open(transport())) {
            List<Connection> heard = new CopyOnWriteArrayList<>();
            TransferEngine.ListenerHandle registration = pair.target().onConnection(heard::add);
            until("the one that is open is reported", () -> heard.size() == 1);
            assertThat(heard.getFirst()).isSameAs(pair.accepted());
            await(pair.initiator().connect(pair.target().address()));
            until("the new one is reported", () -> heard.size() == 2);
            registration.close();
            await(pair.initiator().connect(pair.target().address()));
            until("the third is open", () -> pair.target().connections().size() == 3);
            Patience.pause(Duration.ofMillis(50));
            assertThat(heard).hasSize(2).doesNotHaveDuplicates();
        }
    }

    @Test
    default void listenerThatThrowsDoesNotKeepPeersOut() {
        try (TransferEngine target = TransferEngine.open(transport().options().build());
                TransferEngine engine =
                        TransferEngine.open(transport().options().build())) {
            target.onConnection(connection -> {
                throw new IllegalStateException("thrown on purpose");
            });
            Connection connection = await(engine.connect(target.address()));
            writesEightBytes(engine, connection, target);
        }
    }

    @Test
    default void closingEndsBothSidesInOrder() {
        try (EnginePair pair = EnginePair.open(transport())) {
            CompletableFuture<Void> closed = pair.connection().close();
            await(pair.connection().close());
            await(closed);
            await(pair.connection().ended());
            await(pair.accepted().ended());
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.CLOSED);
            assertThat(pair.accepted().state()).isEqualTo(ConnectionState.CLOSED);
            until(
                    "neither engine lists it",
                    () -> pair.initiator().connections().isEmpty()
                            && pair.target().connections().isEmpty());
            assertThat(EngineSums.ofTransports(pair.initiator(), TransportMetrics::connectionsLost))
                    .isZero();
            assertThat(EngineSums.ofTransports(pair.target(), TransportMetrics::connectionsLost))
                    .isZero();
        }
    }

    @Test
    default void closedConnectionRefusesWork() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(8);
            MemoryRegion served = pair.served(8);
            RemoteRegion remote = pair.attach(served);
            await(pair.connection().close());
            TerminalSignal never = new TerminalSignal();
            assertThatThrownBy(() -> pair.connection().write(local, 0, remote, 0, 8, TransferOptions.defaults(), never))
                    .isInstanceOf(ConnectionLostException.class);
            assertThatThrownBy(() -> pair.connection().read(local, 0, remote, 0, 8, TransferOptions.defaults(), never))
                    .isInstanceOf(ConnectionLostException.class);
            assertThatThrownBy(() -> pair.connection().notify(new byte[1], TransferOptions.defaults(), never))
                    .isInstanceOf(ConnectionLostException.class);
            failure(pair.connection().attach(served.descriptor()), ConnectionLostException.class);
            failure(pair.connection().lookup("anything"), ConnectionLostException.class);
            assertThat(never.count()).isZero();
        }
    }

    @Test
    default void noEngineListens() {
        int port = FreePort.any();
        try (TransferEngine engine = TransferEngine.open(
                // longer than any wait: it is not what ends these
                transport().options().connectTimeout(Duration.ofHours(1)).build())) {
            failure(engine.connect(EngineAddress.of("127.0.0.1", port)), ConnectFailedException.class);
            failure(engine.connection(EngineAddress.of("127.0.0.1", port)), ConnectFailedException.class);
        }
    }

    @Test
    default void listenerThatNeverAnswersCostsNoMoreThanTheConnectTimeout() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
                TransferEngine engine = TransferEngine.open(transport()
                        .options()
                        .connectTimeout(Duration.ofMillis(300))
                        .build())) {
            EngineAddress address = EngineAddress.of("127.0.0.1", silent.getLocalPort());
            long start = System.nanoTime();
            failure(engine.connect(address), ConnectFailedException.class);
            Duration taken = Duration.ofNanos(System.nanoTime() - start);
            assertThat(taken).isGreaterThan(Duration.ofMillis(250));
        }
    }

    @Test
    default void strangerThatTalksNonsenseGivesATypedError() throws IOException {
        try (ServerSocket stranger = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
                TransferEngine engine = TransferEngine.open(
                        transport().options().connectTimeout(Patience.BOUND).build())) {
            Thread.ofPlatform().daemon().start(() -> {
                while (!stranger.isClosed()) {
                    try (var socket = stranger.accept()) {
                        socket.getOutputStream()
                                .write("HTTP/1.1 400 Bad Request\r\n\r\n"
                                        .repeat(20)
                                        .getBytes(StandardCharsets.US_ASCII));
                        socket.shutdownOutput();
                        socket.getInputStream().readAllBytes();
                    } catch (IOException e) {
                        // The engine hangs up, or the test is over.
                    }
                }
            });
            SluiceException error = failure(
                    engine.connect(EngineAddress.of("127.0.0.1", stranger.getLocalPort())), SluiceException.class);
            assertThat(error.getClass()).isNotEqualTo(SluiceException.class);
        }
    }

    @Test
    default void hostThatDoesNotResolve() {
        try (TransferEngine engine = TransferEngine.open(
                transport().options().connectTimeout(Duration.ofMillis(500)).build())) {
            failure(engine.connect(EngineAddress.of("no-such-host.invalid", 7000)), ConnectFailedException.class);
        }
    }

    @Test
    default void engineThatDoesNotListenHasNoAddressAndStillConnects() {
        try (TransferEngine target = TransferEngine.open(transport().options().build());
                TransferEngine engine =
                        TransferEngine.open(transport().options().noListener().build())) {
            assertThatThrownBy(engine::address).isInstanceOf(IllegalStateException.class);
            writesEightBytes(engine, await(engine.connect(target.address())), target);
        }
    }

    @Test
    default void sameTokenConnects() {
        byte[] token = "sixteen bytes or more".getBytes(StandardCharsets.UTF_8);
        try (EnginePair pair = EnginePair.open(transport(), both -> both.token(token))) {
            writesEightBytes(pair.initiator(), pair.connection(), pair.target());
        }
    }

    @Test
    default void otherTokenDoesNot() {
        byte[] token = "sixteen bytes or more".getBytes(StandardCharsets.UTF_8);
        byte[] other = "sixteen bytes or else".getBytes(StandardCharsets.UTF_8);
        try (TransferEngine target =
                        TransferEngine.open(transport().options().token(token).build());
                TransferEngine wrong =
                        TransferEngine.open(transport().options().token(other).build());
                TransferEngine none = TransferEngine.open(transport().options().build())) {
            List<Connection> accepted = new CopyOnWriteArrayList<>();
            target.onConnection(accepted::add);
            failure(wrong.connect(target.address()), AuthenticationException.class);
            failure(none.connect(target.address()), AuthenticationException.class);
            failure(target.connect(none.address()), AuthenticationException.class);
            Patience.pause(Duration.ofMillis(50));
            assertThat(accepted).isEmpty();
            assertThat(target.connections()).isEmpty();
        }
    }

    @Test
    default void closedEngineRefusesWork() {
        TransferEngine target = TransferEngine.open(transport().options().build());
        TransferEngine engine = TransferEngine.open(transport().options().build());
        EngineAddress address = target.address();
        Connection connection = await(engine.connect(address));
        MemoryRegion region = allocate(engine, 64, RegionOptions.local());
        CompletableFuture<Void> closed = engine.closeAsync();
        await(engine.closeAsync());
        await(closed);
        engine.close();
        await(connection.ended());
        assertThat(connection.state()).isEqualTo(ConnectionState.CLOSED);
        assertThat(region.isOpen()).isFalse();
        assertThatThrownBy(() -> bytesOf(region).byteAt(0)).isInstanceOf(IllegalStateException.class);
        assertThat(engine.connections()).isEmpty();
        assertThat(engine.regions()).isEmpty();
        assertThatThrownBy(() -> await(engine.connect(address))).isInstanceOf(RuntimeException.class);
        assertThatThrownBy(() -> allocate(engine, 64, RegionOptions.local())).isInstanceOf(RuntimeException.class);
        until("the peer sees the end", () -> target.connections().isEmpty());
        target.close();
    }

    @Test
    default void manyConnectionsOpenAndClose() {
        try (EnginePair pair = EnginePair.open(transport())) {
            for (int round = 0; round < 5; round++) {
                List<CompletableFuture<Connection>> opening = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    opening.add(pair.initiator().connect(pair.target().address()));
                }
                List<CompletableFuture<Void>> closing = new ArrayList<>();
                opening.forEach(future -> closing.add(await(future).close()));
                closing.forEach(Patience::await);
            }
            until(
                    "only the first is left",
                    () -> pair.initiator().connections().size() == 1
                            && pair.target().connections().size() == 1);
            writesEightBytes(pair.initiator(), pair.connection(), pair.target());
        }
    }

    private void writesEightBytes(TransferEngine engine, Connection connection, TransferEngine target) {
        MemoryRegion source = filled(allocate(engine, 8, RegionOptions.local()), 5);
        MemoryRegion served = allocate(target, 8, RegionOptions.readWrite());
        RemoteRegion remote = await(connection.attach(served.descriptor()));
        TerminalSignal signal = new TerminalSignal();
        connection.write(source, 0, remote, 0, 8, TransferOptions.defaults(), signal);
        signal.awaitSuccess();
        BytePattern.assertFilled(bytesOf(served), 5);
    }
}
