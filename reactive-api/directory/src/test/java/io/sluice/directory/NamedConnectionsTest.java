package io.sluice.directory;

import static io.sluice.testkit.Patience.BOUND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.sluice.engine.AuthenticationException;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.recovery.ReconnectOptions;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Failures between an entry of the directory and a connection. */
class NamedConnectionsTest {
    private static final String NAME = "decode/7";

    private final Directory directory = Directory.inProcess();
    private ReactiveTransferEngine here;
    private ReactiveTransferEngine there;

    @BeforeEach
    void open() {
        here = ReactiveTransferEngine.open(patient().noListener().build());
        there = ReactiveTransferEngine.open(patient().build());
    }

    @AfterEach
    void close() {
        here.close().block(BOUND);
        there.close().block(BOUND);
        directory.close().block(BOUND);
    }

    /** A peer that is held up here is not given up. */
    private static EngineOptions.Builder patient() {
        return PatientOptions.builder().transports(List.of("tcp")).livenessTimeout(BOUND);
    }

    private NamedConnections connections(int maxFailures) {
        return NamedConnections.of(
                directory, here, new ReconnectOptions(Duration.ofMillis(1), Duration.ofMillis(20), maxFailures));
    }

    private Publication publish(EngineAddress address, long epoch) {
        return directory
                .publish(new Advertisement(NAME, address, epoch, new TreeMap<>()))
                .blockOptional(BOUND)
                .orElseThrow();
    }

    private void nothingIsOpen() {
        await().atMost(BOUND)
                .until(() -> here.engine().connections().isEmpty()
                        && there.engine().connections().isEmpty());
    }

    private long openedHere() {
        return here.engine().metrics().transports().getFirst().connectionsOpened();
    }

    /** Hangs up on the first so many, lets the others wait, and counts them all. */
    private static final class Refusing implements AutoCloseable {
        final AtomicInteger calls = new AtomicInteger();
        private final ServerSocket server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());

        Refusing() throws Exception {
            this(Integer.MAX_VALUE);
        }

        Refusing(int refused) throws Exception {
            Thread.ofVirtual().start(() -> {
                List<Socket> waiting = new ArrayList<>();
                try {
                    while (true) {
                        Socket caller = server.accept();
                        // counted first: the caller goes on as soon as it is hung up on
                        if (calls.getAndIncrement() < refused) {
                            caller.close();
                        } else {
                            waiting.add(caller);
                        }
                    }
                } catch (IOException closed) {
                    // as it should be in the end
                }
                waiting.forEach(Refusing::close);
            });
        }

        private static void close(Socket caller) {
            try {
                caller.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        EngineAddress address() {
            return new EngineAddress("127.0.0.1", server.getLocalPort(), EngineId.random());
        }

        @Override
        public void close() throws Exception {
            server.close();
        }
    }

    @Test
    void itGivesUpAfterAsManyFailuresAsItMay() throws Exception {
        try (Refusing refusing = new Refusing()) {
            publish(refusing.address(), 1);
            assertThatThrownBy(() -> connections(3).connections(NAME).blockLast(BOUND))
                    .isInstanceOf(ConnectFailedException.class);
            assertThat(refusing.calls).hasValue(3);
        }
    }

    @Test
    void withoutALimitItTriesForEver() throws Exception {
        try (Refusing refusing = new Refusing()) {
            publish(refusing.address(), 1);
            List<Throwable> errors = new CopyOnWriteArrayList<>();
            List<ReactiveConnection> made = new CopyOnWriteArrayList<>();
            Disposable staying = connections(0).connections(NAME).subscribe(made::add, errors::add);
            await().atMost(BOUND).until(() -> refusing.calls.get() >= 10);
            publish(there.address(), there.engine().epoch());
            await().atMost(BOUND).until(() -> made.size() == 1);
            assertThat(errors).isEmpty();
            staying.dispose();
            nothingIsOpen();
        }
    }

    @Test
    void anotherRunOfTheEngineIsForgivenTheFailuresBefore() throws Exception {
        // The third attempt waits, so that there is no fourth before the other run is published.
        try (Refusing one = new Refusing(2);
                Refusing other = new Refusing()) {
            publish(one.address(), 1);
            List<Throwable> errors = new CopyOnWriteArrayList<>();
            connections(4).connections(NAME).subscribe(any -> {}, errors::add);
            await().atMost(BOUND).until(() -> one.calls.get() == 3);
            publish(other.address(), 2);
            await().atMost(BOUND).until(() -> !errors.isEmpty());
            assertThat(errors).singleElement().isInstanceOf(ConnectFailedException.class);
            assertThat(other.calls).hasValue(4);
        }
    }

    @Test
    void connectionsThatDoNotLastAreFailures() {
        publish(there.address(), there.engine().epoch());
        there.engine().onConnection(Connection::close);
        NamedConnections patient = NamedConnections.of(
                directory, here, new ReconnectOptions(Duration.ofMillis(1), Duration.ofMinutes(1), 3));
        List<ReactiveConnection> made = new CopyOnWriteArrayList<>();
        assertThatThrownBy(() -> patient.connections(NAME).doOnNext(made::add).blockLast(BOUND))
                .isInstanceOf(ConnectionLostException.class);
        assertThat(made).hasSizeLessThanOrEqualTo(3);
        nothingIsOpen();
    }

    @Test
    void aCancelInMidConnectLeavesNothingBehind() throws Exception {
        try (SlowWire wire = new SlowWire(there.address())) {
            publish(wire.address(), there.engine().epoch());
            List<ReactiveConnection> made = new CopyOnWriteArrayList<>();
            Disposable staying = connections(0).connections(NAME).subscribe(made::add);
            await().atMost(BOUND).until(() -> wire.accepted() == 1);
            Disposable once = connections(0).connect(NAME).subscribe(made::add);
            // Neither has got an answer, so each has made its first socket alone.
            await().atMost(BOUND).until(() -> wire.accepted() == 2);
            staying.dispose();
            once.dispose();
            wire.open();
            // Both go on to their end, where no one wants them. The other side may not hear that they were open:
            // they end at once, and a lane's end may overtake what is said on the control channel.
            await().atMost(BOUND).until(() -> openedHere() == 2);
            nothingIsOpen();
            assertThat(made).isEmpty();
            assertThat(openedHere()).as("no attempt follows").isEqualTo(2);
        }
    }

    @Test
    void aCancelAtAnyMomentLeavesNothingBehind() {
        publish(there.address(), there.engine().epoch());
        for (int round = 0; round < 100; round++) {
            Mono<ReactiveConnection> first = connections(0).connections(NAME).next();
            Disposable attempt = first.subscribe();
            long until = System.nanoTime() + round * 50_000L;
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            attempt.dispose();
        }
        nothingIsOpen();
    }

    @Test
    void anEntryOfAnotherRunIsNotUsed() {
        publish(there.address(), there.engine().epoch() + 1);
        AtomicInteger arrived = new AtomicInteger();
        there.engine().onConnection(connection -> arrived.incrementAndGet());
        assertThatThrownBy(() -> connections(0).connect(NAME).block(BOUND)).isInstanceOf(StaleEntryException.class);
        await().atMost(BOUND).until(() -> arrived.get() == 1);
        nothingIsOpen();
    }

    /** The engine has restarted on its port; its entry is still the one of the run before. */
    @Test
    void afterARestartTheOldEntryConnectsToNobodyAndTheNewOneDoes() {
        there.close().block(BOUND);
        EngineOptions onOnePort = patient().listen("127.0.0.1", FreePort.any()).build();
        there = ReactiveTransferEngine.open(onOnePort);
        publish(there.address(), there.engine().epoch());
        List<ReactiveConnection> made = new CopyOnWriteArrayList<>();
        List<Throwable> errors = new CopyOnWriteArrayList<>();
        Disposable staying = connections(0).connections(NAME).subscribe(made::add, errors::add);
        await().atMost(BOUND).until(() -> made.size() == 1);
        long before = there.engine().epoch();
        there.close().block(BOUND);
        there = ReactiveTransferEngine.open(onOnePort);
        assertThat(there.engine().epoch()).isNotEqualTo(before);

        assertThatThrownBy(() -> connections(0).connect(NAME).block(BOUND)).isInstanceOf(SluiceException.class);
        Patience.pause(Duration.ofMillis(200));
        assertThat(made).hasSize(1);
        // There is one at moments, as it tries again and again.
        Patience.until("no connection stays", () -> there.engine().connections().isEmpty());

        publish(there.address(), there.engine().epoch());
        await().atMost(BOUND).until(() -> made.size() == 2);
        assertThat(made.getLast().connection().peerEpoch())
                .isEqualTo(there.engine().epoch());
        assertThat(errors).isEmpty();
        staying.dispose();
        nothingIsOpen();
    }

    /** No further attempt mends it; and who waits is to know why. */
    @Test
    void aTokenThatThePeerDoesNotKnowEndsIt() {
        here.close().block(BOUND);
        there.close().block(BOUND);
        here = ReactiveTransferEngine.open(
                patient().noListener().token(token(1)).build());
        there = ReactiveTransferEngine.open(patient().token(token(2)).build());
        publish(there.address(), there.engine().epoch());
        assertThatThrownBy(() -> connections(0).connections(NAME).blockLast(BOUND))
                .isInstanceOf(AuthenticationException.class);
    }

    private static byte[] token(int fill) {
        byte[] token = new byte[32];
        Arrays.fill(token, (byte) fill);
        return token;
    }

    @Test
    void anEngineThatIsClosedEndsIt() throws Exception {
        try (Refusing refusing = new Refusing()) {
            publish(refusing.address(), 1);
            List<Throwable> errors = new CopyOnWriteArrayList<>();
            connections(0).connections(NAME).subscribe(any -> {}, errors::add);
            Patience.until("it tries again", () -> refusing.calls.get() >= 2);
            here.close().block(BOUND);
            Patience.until("it ends", () -> !errors.isEmpty());
            assertThat(errors).singleElement().isInstanceOf(ConnectionClosedException.class);
        }
    }

    @Test
    void failuresThatRepeatAreLoggedWithTheirReason() throws Exception {
        try (Refusing refusing = new Refusing();
                LoggedMessages messages = LoggedMessages.of(NamedTarget.class)) {
            publish(refusing.address(), 1);
            Disposable staying = connections(0).connections(NAME).subscribe();
            Patience.until("it is told", () -> !messages.at(Level.WARN).isEmpty());
            assertThat(messages.at(Level.WARN).getFirst())
                    .contains(NAME, "2 failures", ConnectFailedException.class.getSimpleName());
            staying.dispose();
        }
    }
}
