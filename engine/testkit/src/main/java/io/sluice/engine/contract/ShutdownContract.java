package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The orderly end: transfers in flight end well, nothing new begins, and it stays within its time. */
interface ShutdownContract extends Contract {
    Duration LONG = Patience.BOUND;
    Duration SHORT = Duration.ofMillis(50);

    /** A transfer that is under way until the test lets it go on. */
    final class Held implements StartEvent {
        private final CompletableFuture<Void> goOn = new CompletableFuture<>();
        final TerminalSignal signal = new TerminalSignal();

        Held(Connection by, MemoryRegion local, RemoteRegion remote) {
            by.write(local, 0, remote, 0, 8, TransferOptions.defaults().startAfter(this), signal);
        }

        @Override
        public void whenHappened(Listener listener) {
            goOn.whenComplete((nothing, error) -> listener.happened(error));
        }

        void goOn() {
            goOn.complete(null);
        }
    }

    private static RemoteRegion attach(Connection by, MemoryRegion region) {
        return await(by.attach(region.descriptor()));
    }

    @ParameterizedTest
    @EnumSource(Ends.class)
    default void anIdleConnectionIsShutDownAtOnce(Ends ends) {
        try (EnginePair pair = ends.open(transport())) {
            await(pair.connection().shutdown(LONG));
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.CLOSED);
            await(pair.accepted().ended());
            assertThat(pair.accepted().state()).isEqualTo(ConnectionState.CLOSED);
            await(pair.connection().shutdown(LONG));
        }
    }

    @Test
    default void whatIsUnderWayOnBothSidesEndsWell() {
        try (EnginePair pair = EnginePair.open(transport())) {
            int bytes = 256 << 10;
            MemoryRegion here = pair.local(bytes);
            RemoteRegion target = pair.attach(pair.served(bytes));
            MemoryRegion there = allocate(pair.target(), bytes, RegionOptions.local());
            RemoteRegion source = attach(pair.accepted(), allocate(pair.initiator(), bytes, RegionOptions.readWrite()));
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                signals.add(pair.write(here, 0, target, 0, bytes));
                TerminalSignal reading = new TerminalSignal();
                pair.accepted().read(there, 0, source, 0, bytes, TransferOptions.defaults(), reading);
                signals.add(reading);
            }
            CompletableFuture<Void> end = pair.connection().shutdown(LONG);
            await(end);
            assertThat(TerminalSignal.ended(signals)).isEqualTo(signals.size());
            TerminalSignal.awaitAllSuccess(signals);
        }
    }

    @Test
    default void nothingNewBeginsOnEitherSide() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(8);
            RemoteRegion remote = pair.attach(pair.served(8));
            Held held = new Held(pair.connection(), local, remote);
            MemoryRegion there = allocate(pair.target(), 8, RegionOptions.local());
            RemoteRegion back = attach(pair.accepted(), allocate(pair.initiator(), 8, RegionOptions.readWrite()));
            CompletableFuture<Void> end = pair.connection().shutdown(LONG);
            until("draining", () -> pair.connection().state() == ConnectionState.DRAINING);
            until("the peer draining", () -> pair.accepted().state() == ConnectionState.DRAINING);
            assertThatThrownBy(() -> pair.write(local, 0, remote, 0, 8)).isInstanceOf(ConnectionClosedException.class);
            assertThatThrownBy(() -> pair.notify(new byte[8])).isInstanceOf(ConnectionClosedException.class);
            assertThatThrownBy(() -> pair.accepted()
                            .write(there, 0, back, 0, 8, TransferOptions.defaults(), new TerminalSignal()))
                    .isInstanceOf(ConnectionLostException.class)
                    .isNotInstanceOf(ConnectionClosedException.class);
            assertThat(end).isNotDone();
            held.goOn();
            held.signal.awaitSuccess();
            await(end);
        }
    }

    @Test
    default void thePeersTransfersAreWaitedFor() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion there = allocate(pair.target(), 8, RegionOptions.local());
            MemoryRegion here = allocate(pair.initiator(), 8, RegionOptions.readWrite());
            Held held = new Held(pair.accepted(), there, attach(pair.accepted(), here));
            CompletableFuture<Void> end = pair.connection().shutdown(LONG);
            until("the peer draining", () -> pair.accepted().state() == ConnectionState.DRAINING);
            Patience.pause(SHORT);
            assertThat(end).isNotDone();
            held.goOn();
            held.signal.awaitSuccess();
            await(end);
        }
    }

    @Test
    default void whatDoesNotEndInTimeIsEnded() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(8);
            RemoteRegion remote = pair.attach(pair.served(8));
            Held held = new Held(pair.connection(), local, remote);
            MemoryRegion there = allocate(pair.target(), 8, RegionOptions.local());
            RemoteRegion back = attach(pair.accepted(), allocate(pair.initiator(), 8, RegionOptions.readWrite()));
            Held peers = new Held(pair.accepted(), there, back);
            await(pair.connection().shutdown(SHORT));
            held.signal.awaitFailure(ConnectionClosedException.class);
            peers.signal.awaitFailure(ConnectionLostException.class);
        }
    }

    @Test
    default void aSecondCallMayShortenTheTime() {
        try (EnginePair pair = EnginePair.open(transport())) {
            Held held = new Held(pair.connection(), pair.local(8), pair.attach(pair.served(8)));
            CompletableFuture<Void> first = pair.connection().shutdown(Duration.ofDays(100_000));
            await(pair.connection().shutdown(Duration.ZERO));
            await(first);
            held.signal.awaitFailure(ConnectionClosedException.class);
        }
    }

    @Test
    default void bothSidesMayWantItAtOnce() {
        try (EnginePair pair = EnginePair.open(transport())) {
            Held held = new Held(pair.connection(), pair.local(8), pair.attach(pair.served(8)));
            CompletableFuture<Void> here = pair.connection().shutdown(LONG);
            CompletableFuture<Void> there = pair.accepted().shutdown(LONG);
            Patience.pause(SHORT);
            assertThat(here).isNotDone();
            held.goOn();
            held.signal.awaitSuccess();
            await(here);
            await(there);
        }
    }

    @Test
    default void anEngineShutsItsConnectionsDown() {
        try (EnginePair pair = EnginePair.open(transport())) {
            TransferEngine engine = pair.target();
            Held held = new Held(pair.connection(), pair.local(8), pair.attach(pair.served(8)));
            CompletableFuture<Void> end = engine.shutdown(LONG);
            until("draining", () -> pair.connection().state() == ConnectionState.DRAINING);
            failure(engine.connect(pair.target().address()), ConnectionClosedException.class);
            failure(pair.initiator().connect(engine.address()), ConnectFailedException.class);
            assertThat(end).isNotDone();
            held.goOn();
            held.signal.awaitSuccess();
            await(end);
            await(pair.connection().ended());
            assertThat(engine.regions()).isEmpty();
        }
    }

    @Test
    default void timeIsNotNegative() {
        try (EnginePair pair = EnginePair.open(transport())) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.connection().shutdown(Duration.ofNanos(-1)));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.initiator().shutdown(Duration.ofNanos(-1)));
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
        }
    }
}
