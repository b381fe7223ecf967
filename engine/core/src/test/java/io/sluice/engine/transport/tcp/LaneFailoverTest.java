package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import io.sluice.testkit.SteadyRounds;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lane of several that fails takes nothing with it: what it carried goes over the others, and nothing happens twice. */
@Tag("filler")
class LaneFailoverTest {
    private static final int LANES = 3;
    private static final int SLOT = 96 << 10;
    private static final int SLOTS = 64;
    private static final int WORDS = 3 * Long.BYTES;
    private static final long SIGNAL = (long) SLOTS * SLOT;
    private static final long COUNTER = SIGNAL + Long.BYTES;
    private static final long OF_WRITES = COUNTER + Long.BYTES;
    // a lane that freezes is given up after this
    private static final Duration LIVENESS = Duration.ofSeconds(1);

    private final Random random = new Random(11);
    private final AtomicInteger outstanding = new AtomicInteger();
    private final AtomicInteger writes = new AtomicInteger();
    private final AtomicInteger signals = new AtomicInteger();
    private final AtomicInteger added = new AtomicInteger();
    private final AtomicInteger unknown = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final Queue<SluiceException> errors = new ConcurrentLinkedQueue<>();
    private volatile boolean stopping;

    /** Every kind of transfer, each followed by the next of its kind. */
    private record Traffic(Connection connection, MemoryRegion local, RemoteRegion remote) {}

    private void end(@Nullable SluiceException error, AtomicInteger successes, Runnable next) {
        if (error == null) {
            successes.incrementAndGet();
        } else {
            errors.add(error);
        }
        next(next);
    }

    private void next(Runnable next) {
        if (stopping) {
            outstanding.decrementAndGet();
        } else {
            next.run();
        }
    }

    private void write(Traffic traffic, int slot) {
        long offset = (long) slot * SLOT;
        traffic.connection()
                .writeWithSignal(
                        traffic.local(),
                        offset,
                        traffic.remote(),
                        offset,
                        SLOT,
                        new SignalUpdate(new RemoteSignal(traffic.remote(), OF_WRITES), 1, SignalOrder.WEAK),
                        TransferOptions.defaults(),
                        (transfer, error) -> end(error, writes, () -> write(traffic, slot)));
    }

    private void read(Traffic traffic, MemoryRegion into) {
        traffic.connection()
                .read(
                        into,
                        0,
                        traffic.remote(),
                        0,
                        SLOT,
                        TransferOptions.defaults(),
                        (transfer, error) -> end(error, new AtomicInteger(), () -> read(traffic, into)));
    }

    private void signal(Traffic traffic) {
        traffic.connection()
                .signal(
                        new SignalUpdate(new RemoteSignal(traffic.remote(), SIGNAL), 1, SignalOrder.WEAK),
                        TransferOptions.defaults(),
                        (transfer, error) -> end(error, signals, () -> signal(traffic)));
    }

    private void add(Traffic traffic) {
        traffic.connection()
                .fetchAdd(traffic.remote(), COUNTER, 1, TransferOptions.defaults(), (transfer, before, error) -> {
                    if (error instanceof OutcomeUnknownException) {
                        unknown.incrementAndGet();
                        next(() -> add(traffic));
                    } else {
                        end(error, added, () -> add(traffic));
                    }
                });
    }

    /** A refused transfer stays refused, whichever way the initiator learns of it. */
    private void refused(Traffic traffic) {
        traffic.connection().put(traffic.remote(), 0, 1, 8, TransferOptions.defaults(), (transfer, error) -> {
            if (error instanceof RemoteAccessException) {
                refused.incrementAndGet();
                next(() -> refused(traffic));
            } else {
                end(error, new AtomicInteger(), () -> refused(traffic));
            }
        });
    }

    private void failOver(Duration liveness, Consumer<FaultyPath.Link> failure) {
        try (FaultyPath path = new FaultyPath()) {
            EngineOptions options = PatientOptions.builder()
                    .transports(List.of("tcp"))
                    .lanes(LANES)
                    .livenessTimeout(liveness)
                    .connectTimeout(Patience.BOUND)
                    .build();
            try (TransferEngine target = TransferEngine.open(options);
                    TransferEngine initiator = TransferEngine.open(options)) {
                path.leadsTo(target.address().port());
                Connection connection =
                        Patience.await(initiator.connect(new EngineAddress("127.0.0.1", path.port(), target.id())));
                Patience.until("all lanes are there", () -> path.links().size() == 1 + LANES);
                MemoryRegion local = initiator.allocate((long) SLOTS * SLOT, RegionOptions.local());
                byte[] bytes = new byte[SLOTS * SLOT];
                random.nextBytes(bytes);
                local.segment().copyFrom(MemorySegment.ofArray(bytes));
                MemoryRegion served = target.allocate((long) SLOTS * SLOT + WORDS, RegionOptions.readWrite());
                RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
                Traffic traffic = new Traffic(connection, local, remote);
                MemoryRegion closing = target.allocate(8, RegionOptions.readWrite());
                RemoteRegion gone = Patience.await(connection.attach(closing.descriptor()));
                Patience.await(closing.close());
                begin(traffic, new Traffic(connection, local, gone), initiator);
                for (int cut = 1; cut < LANES; cut++) {
                    awaitWrites(connection);
                    failure.accept(path.links().get(1 + cut));
                    int up = LANES - cut;
                    Patience.until(
                            "the lane is given up",
                            () -> lanesDown(target) >= LANES - up || connection.state() != ConnectionState.OPEN);
                    awaitWrites(connection);
                }
                stopping = true;
                Patience.until("all have ended", () -> outstanding.get() == 0);
                assertThat(errors).isEmpty();
                assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
                assertThat(served.segment().asSlice(0, (long) SLOTS * SLOT).mismatch(local.segment()))
                        .isEqualTo(-1);
                assertThat(word(served, SIGNAL)).isEqualTo(signals.get());
                assertThat(word(served, OF_WRITES)).isEqualTo(writes.get());
                assertThat(word(served, COUNTER)).isBetween((long) added.get(), (long) added.get() + unknown.get());
                assertThat(refused).hasPositiveValue();
                Patience.await(connection.quiesced());
                Patience.await(local.close());
                Patience.await(served.close());
            }
        }
    }

    private void begin(Traffic traffic, Traffic toNobody, TransferEngine initiator) {
        for (int slot = 0; slot < SLOTS; slot++) {
            outstanding.incrementAndGet();
            write(traffic, slot);
        }
        for (int i = 0; i < 8; i++) {
            outstanding.addAndGet(4);
            read(traffic, initiator.allocate(SLOT, RegionOptions.local()));
            signal(traffic);
            add(traffic);
            refused(toNobody);
        }
    }

    /** A connection that is lost would be waited for in vain. */
    private void awaitWrites(Connection connection) {
        int before = writes.get();
        Patience.until(
                "it goes on", () -> writes.get() > before + 2 * SLOTS || connection.state() != ConnectionState.OPEN);
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    }

    private static long lanesDown(TransferEngine engine) {
        return engine.metrics().transports().stream()
                .mapToLong(transport -> transport.lanes(TransportMetrics.PathState.DOWN))
                .sum();
    }

    private static long word(MemoryRegion region, long offset) {
        return region.segment().get(ValueLayout.JAVA_LONG, offset);
    }

    @RepeatedTest(2)
    void lanesThatAreCut() {
        // that is noticed at once, not by a time-out
        failOver(Patience.BOUND.multipliedBy(2), FaultyPath.Link::reset);
    }

    @Test
    void lanesThatFreeze() {
        SteadyRounds.run(LIVENESS, liveness -> new LaneFailoverTest().failOver(liveness, FaultyPath.Link::stall));
    }

    @RepeatedTest(4)
    @Tag("soak")
    void lanesThatAreCutAgainAndAgain() {
        lanesThatAreCut();
    }

    @RepeatedTest(2)
    @Tag("soak")
    void lanesThatFreezeAgainAndAgain() {
        lanesThatFreeze();
    }
}
