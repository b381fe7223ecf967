package io.sluice.engine.session;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectOptions;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Filling;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.tls.TestAuthority;
import io.sluice.testkit.PatientOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections of one group share a loop, in the engine that connects and in the one that accepts. */
class LoopGroupTest {
    private static final int POLLERS = 3;

    private final List<TransferEngine> engines = new ArrayList<>();

    @AfterEach
    void close() {
        engines.forEach(engine -> await(engine.closeAsync()));
    }

    private TransferEngine engine(Consumer<EngineOptions.Builder> more) {
        TransferEngine engine = TransferEngine.open(
                PatientOptions.builder().pollers(POLLERS).with(more).build());
        engines.add(engine);
        return engine;
    }

    private TransferEngine engine() {
        return engine(options -> options.transports(List.of("tcp")));
    }

    private static ConnectOptions in(long group) {
        return ConnectOptions.defaults().inGroup(new LoopGroup(group));
    }

    /** Both ends of connections that one engine makes with another. */
    private static final class Ends {
        final List<Connection> made = new ArrayList<>();
        final List<Connection> accepted = new CopyOnWriteArrayList<>();

        Ends(TransferEngine from, TransferEngine to, int count, ConnectOptions options) {
            Set<Connection> before = Set.copyOf(to.connections());
            try (TransferEngine.ListenerHandle ignored = to.onConnection(connection -> {
                if (!before.contains(connection)) {
                    accepted.add(connection);
                }
            })) {
                for (int i = 0; i < count; i++) {
                    made.add(await(from.connect(to.address(), options)));
                }
                until("the other end is there", () -> accepted.size() >= count);
            }
        }

        static Set<EngineLoop> loops(List<Connection> connections) {
            Set<EngineLoop> loops = new HashSet<>();
            connections.forEach(connection -> loops.add(connection.loop()));
            return loops;
        }
    }

    private static void move(TransferEngine from, Connection connection, TransferEngine to) {
        int bytes = 100_000;
        MemoryRegion served = to.allocate(bytes, RegionOptions.readWrite());
        MemoryRegion local = from.allocate(bytes, RegionOptions.local());
        Filling.fill(local.segment(), 5);
        RemoteRegion remote = await(connection.attach(served.descriptor()));
        CompletableFuture<Optional<SluiceException>> written = new CompletableFuture<>();
        connection.write(local, 0, remote, 0, bytes, TransferOptions.defaults(), LinkedEngines.into(written));
        assertThat(await(written)).isEmpty();
        Filling.assertFilled(served.segment(), 5, 0, bytes);
        CompletableFuture<Optional<SluiceException>> told = new CompletableFuture<>();
        connection.notify(new byte[] {1}, TransferOptions.defaults(), LinkedEngines.into(told));
        assertThat(await(told)).isEmpty();
    }

    private static void assertOneLoopOnEachSide(TransferEngine here, TransferEngine there, long group) {
        Ends ends = new Ends(here, there, 2 * POLLERS, in(group));
        assertThat(Ends.loops(ends.made)).hasSize(1);
        assertThat(Ends.loops(ends.accepted)).hasSize(1);
        assertThat(ends.made).extracting(Connection::group).containsOnly(new LoopGroup(group));
        assertThat(ends.accepted).extracting(Connection::group).containsOnly(new LoopGroup(group));
        ends.made.forEach(connection -> move(here, connection, there));
        ends.accepted.forEach(connection -> move(there, connection, here));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, -1, Long.MIN_VALUE, Long.MAX_VALUE})
    void connectionsOfOneGroupShareALoopOnEachSide(long group) {
        assertOneLoopOnEachSide(engine(), engine(), group);
    }

    @Test
    void alsoOnTheTransportThatIsTakenByItself() {
        assertOneLoopOnEachSide(engine(options -> {}), engine(options -> {}), 1);
    }

    @Test
    void alsoWithTokensAndSeveralLanes() {
        Consumer<EngineOptions.Builder> options = each -> each.transports(List.of("tcp"))
                .lanes(3)
                .token("correct horse battery staple".getBytes(StandardCharsets.US_ASCII));
        assertOneLoopOnEachSide(engine(options), engine(options), 2);
    }

    /** The acceptor moves the encrypted stream from the poller that accepted it to the group's. */
    @Test
    void alsoInTls(@TempDir Path folder) {
        TestAuthority authority = new TestAuthority(folder, "authority");
        assertOneLoopOnEachSide(
                engine(options -> options.transports(List.of("tcp"))
                        .tls(authority.issue("CN=initiator").options())),
                engine(options -> options.transports(List.of("tcp"))
                        .tls(authority.issue("CN=target").options())),
                1);
    }

    @Test
    void groupsWithConsecutiveNumbersAreSpreadOverTheLoops() {
        TransferEngine here = engine();
        TransferEngine there = engine();
        List<Connection> made = new ArrayList<>();
        List<Connection> accepted = new ArrayList<>();
        for (int group = 0; group < POLLERS; group++) {
            Ends ends = new Ends(here, there, 1, in(group));
            made.addAll(ends.made);
            accepted.addAll(ends.accepted);
        }
        assertThat(Ends.loops(made)).hasSize(POLLERS);
        assertThat(Ends.loops(accepted)).hasSize(POLLERS);
    }

    /** A ring: each engine has one connection to the next and one from the last. */
    @Test
    void whatAnEngineMakesAndWhatItAcceptsShareALoop() {
        List<TransferEngine> ring = List.of(engine(), engine(), engine());
        for (int i = 0; i < ring.size(); i++) {
            // others come between, so that no order of arrivals makes it so
            await(ring.get(i).connect(ring.get((i + 1) % ring.size()).address()));
            await(ring.get(i).connect(ring.get((i + 1) % ring.size()).address(), in(7)));
        }
        for (TransferEngine rank : ring) {
            EngineLoop groups = await(rank.connect(rank.address(), in(7))).loop();
            until("both ends of all are open", () -> rank.connections().size() == 6);
            long inGroup = rank.connections().stream()
                    .filter(connection -> connection.loop().equals(groups))
                    .count();
            // those of the ring and both ends of the last
            assertThat(inGroup).isGreaterThanOrEqualTo(4);
        }
    }

    @Test
    void withoutAGroupConnectionsAreSpread() {
        TransferEngine here = engine();
        TransferEngine there = engine();
        assertThat(Ends.loops(new Ends(here, there, POLLERS, ConnectOptions.defaults()).made))
                .hasSize(POLLERS);
    }

    @Test
    void aCachedConnectionIsNoneOfAGroup() {
        TransferEngine here = engine();
        TransferEngine there = engine();
        Connection grouped = await(here.connect(there.address(), in(1)));
        Connection cached = await(here.connection(there.address()));
        assertThat(cached).isNotEqualTo(grouped);
        assertThat(await(here.connection(there.address()))).isEqualTo(cached);
    }

    /** Peers that break off while they are moved leave nothing behind, and the engine closes. */
    @Test
    void anEngineClosesWhileGroupedPeersConnect() {
        TransferEngine here = engine();
        TransferEngine there = engine();
        List<CompletableFuture<Connection>> under = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            under.add(here.connect(there.address(), in(i)));
        }
        await(there.closeAsync());
        under.forEach(each -> await(each.handle((connection, error) -> true)));
    }
}
