package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Filling;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.tcp.FaultyPath.Break;
import io.sluice.engine.transport.tcp.FaultyPath.Fault;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import io.sluice.testkit.SteadyRounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The path breaks after every number of bytes of a handshake and of frames, in either direction: connect ends, each transfer
 * gives its one signal, and neither side keeps anything. The system property {@code sluice.test.break-step} says how many bytes
 * lie between two resets; in the soak profile each byte gets one.
 */
@Tag("filler")
class BreakAtEveryByteTest {
    // what falls silent is given up after this
    private static final Duration LIVENESS = Duration.ofSeconds(1);
    // what is alive is not given up, though the machine may be busy with others
    private static final Duration PATIENT = Patience.BOUND.multipliedBy(2);
    private static final Duration SETTLING = Duration.ofMillis(50);
    private static final int BYTES = 200;
    private static final int SOCKETS = 2;
    private static final int STEP = 13;
    private static final int SELDOM = 16;

    private final int before = OpenDescriptors.count();
    private TransferEngine target;
    private TransferEngine initiator;
    // for handshakes that break, and for no others: a slow machine may take longer for one that does not
    private TransferEngine hasty;
    private MemoryRegion served;
    private MemoryRegion local;
    private int tries;
    private int failed;

    /** Runs with engines that give up what is silent for so long. */
    private void withEngines(Duration liveness, Runnable round) {
        EngineOptions options = PatientOptions.builder()
                .transports(List.of("tcp"))
                .lanes(1)
                .livenessTimeout(liveness)
                .connectTimeout(Patience.BOUND)
                .build();
        target = TransferEngine.open(options);
        initiator = TransferEngine.open(options);
        hasty = TransferEngine.open(options.toBuilder()
                .connectTimeout(liveness.multipliedBy(2).dividedBy(5))
                .build());
        served = target.allocate(BYTES, RegionOptions.readWrite());
        local = initiator.allocate(BYTES, RegionOptions.local());
        tries = 0;
        failed = 0;
        try {
            round.run();
        } finally {
            Patience.await(served.close());
            Patience.await(local.close());
            Patience.await(CompletableFuture.allOf(initiator.closeAsync(), hasty.closeAsync(), target.closeAsync()));
        }
        OpenDescriptors.assertSettleAt(before);
    }

    /** A reset is noticed at once, the others after the liveness time-out: so these are tried at fewer places. */
    private static int step(Break what) {
        boolean soak = System.getProperty("sluice.test.profile", "").equals("soak");
        int step = Integer.getInteger("sluice.test.break-step", soak ? 1 : STEP);
        return what == Break.RESET ? step : SELDOM * step;
    }

    private FaultyPath path() {
        FaultyPath path = new FaultyPath();
        path.leadsTo(target.address().port());
        return path;
    }

    private EngineAddress through(FaultyPath path) {
        return new EngineAddress("127.0.0.1", path.port(), target.id());
    }

    private void assertNothingIsLeft() {
        Patience.until(
                "the initiator has no connection", () -> initiator.connections().isEmpty());
        Patience.until("the other initiator has none", () -> hasty.connections().isEmpty());
        Patience.until(
                "the target has no connection", () -> target.connections().isEmpty());
        Patience.until(
                "all credits are back",
                () -> initiator.metrics().window().operations() == 0
                        && initiator.metrics().window().bytes() == 0);
    }

    /** How many bytes pass on each socket in each direction until the connection is used. */
    private long[][] recorded() {
        try (FaultyPath path = path()) {
            Connection connection = Patience.await(initiator.connect(through(path)));
            // what has come may not have been counted yet
            Patience.pause(SETTLING);
            long[][] bytes = new long[SOCKETS][2];
            for (int socket = 0; socket < SOCKETS; socket++) {
                FaultyPath.Link link = path.links().get(socket);
                Patience.until("the handshake is counted", () -> link.passed(false) > 0 && link.passed(true) > 0);
                bytes[socket][0] = link.passed(false);
                bytes[socket][1] = link.passed(true);
            }
            Patience.await(connection.close());
            return bytes;
        }
    }

    @ParameterizedTest
    @EnumSource(Break.class)
    void handshake(Break what) {
        SteadyRounds.run(LIVENESS, liveness -> withEngines(liveness, () -> breakHandshakes(what)));
    }

    private void breakHandshakes(Break what) {
        int step = step(what);
        long[][] lengths = recorded();
        for (int socket = 0; socket < SOCKETS; socket++) {
            for (int direction = 0; direction < 2; direction++) {
                assertThat(lengths[socket][direction]).isPositive();
                for (long at = 0; at <= lengths[socket][direction]; at += step) {
                    connectThrough(socket, new Fault(direction == 1, at, what));
                }
            }
        }
        System.out.println("BreakAtEveryByteTest: " + what + " at " + tries + " places of a handshake, " + failed
                + " connects failed");
        assertThat(failed).isPositive();
        assertNothingIsLeft();
    }

    private void connectThrough(int socket, Fault fault) {
        tries++;
        try (FaultyPath path = path()) {
            path.plan(socket, fault);
            Connection connection;
            try {
                connection = Patience.await(hasty.connect(through(path)));
            } catch (SluiceException typed) {
                failed++;
                return;
            }
            // it breaks too late for the handshake, and the connection ends with its path
            path.close();
            Patience.until(
                    "the connection ends",
                    () -> connection.ended().toCompletableFuture().isDone());
        }
    }

    /** One transfer of each kind, and how often they were ended. */
    private final class Transfers {
        private final CompletableFuture<@Nullable SluiceException> write = new CompletableFuture<>();
        private final CompletableFuture<@Nullable SluiceException> read = new CompletableFuture<>();
        private final AtomicInteger signals = new AtomicInteger();

        Transfers(Connection connection, RemoteRegion remote) {
            connection.write(local, 0, remote, 0, BYTES, TransferOptions.defaults(), (transfer, error) -> {
                signals.incrementAndGet();
                write.complete(error);
            });
            connection.read(local, 0, remote, 0, BYTES, TransferOptions.defaults(), (transfer, error) -> {
                signals.incrementAndGet();
                read.complete(error);
            });
        }

        boolean awaitBoth() {
            boolean broken = Patience.await(write) != null;
            return Patience.await(read) != null || broken;
        }
    }

    @ParameterizedTest
    @EnumSource(Break.class)
    void frames(Break what) {
        SteadyRounds.run(LIVENESS, liveness -> withEngines(liveness, () -> breakFrames(what)));
    }

    private void breakFrames(Break what) {
        int step = step(what);
        // a header and the bytes of the write, then the read's header; the answers are a header with bytes, and a count
        int outward = FrameHeader.BYTES + BYTES + FrameHeader.BYTES;
        int inward = FrameHeader.BYTES + FrameHeader.BYTES + BYTES;
        List<Transfers> all = new ArrayList<>();
        for (boolean initiators : new boolean[] {true, false}) {
            for (int at = 0; at <= (initiators ? outward : inward); at += step) {
                all.add(transferThrough(initiators, at, what));
            }
        }
        // late second signals would have come by now, but for those of the last ones
        Patience.pause(Duration.ofMillis(100));
        assertThat(all).allSatisfy(transfers -> assertThat(transfers.signals).hasValue(2));
        System.out.println("BreakAtEveryByteTest: " + what + " at " + tries + " places of frames, " + failed
                + " times a transfer failed");
        assertThat(failed).isPositive();
        assertNothingIsLeft();
    }

    private Transfers transferThrough(boolean initiators, int at, Break what) {
        tries++;
        try (FaultyPath path = path()) {
            Connection connection = Patience.await(initiator.connect(through(path)));
            RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
            // both sides have the same bytes, so that no transfer may change any
            Filling.fill(local.segment(), at);
            Filling.fill(served.segment(), at);
            path.links().getLast().breakAfter(initiators, at, what);
            Transfers transfers = new Transfers(connection, remote);
            failed += transfers.awaitBoth() ? 1 : 0;
            path.close();
            Patience.await(connection.quiesced());
            assertThat(connection.window().operations()).isZero();
            assertThat(connection.window().bytes()).isZero();
            assertThat(connection.pending()).isZero();
            Patience.until("the target has let go", () -> target.connections().isEmpty());
            Filling.assertFilled(local.segment(), at, 0, BYTES);
            Filling.assertFilled(served.segment(), at, 0, BYTES);
            return transfers;
        }
    }

    /** A slow path is no fault: one with latency and little bandwidth carries everything. */
    @Test
    void slowPathLosesNothing() {
        withEngines(PATIENT, this::passSlowly);
    }

    private void passSlowly() {
        try (FaultyPath path = path()) {
            Connection connection = Patience.await(initiator.connect(through(path)));
            RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
            path.links().forEach(link -> link.slowDown(20_000_000));
            for (int i = 0; i < 10; i++) {
                assertThat(new Transfers(connection, remote).awaitBoth()).isFalse();
            }
            Patience.await(connection.close());
        }
        assertNothingIsLeft();
    }
}
