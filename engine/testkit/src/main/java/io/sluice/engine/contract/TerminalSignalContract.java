package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every transfer ends exactly once, with success or a typed error, even if the peer fails. */
interface TerminalSignalContract extends Contract {
    int MOST_BYTES = 1 << 20;
    /** For tests in which a peer falls silent; until then its messages must arrive within this time. */
    Duration LIVENESS = Patience.scaled(Duration.ofMillis(800));

    /**
     * Repeats what needs a connection with so short a liveness time-out. Where the machine holds one of the processes up for
     * that long, the connection is lost before its peer falls silent, or after it has come back, and can be used no more: a
     * call throws then, or a transfer that was to succeed does not.
     */
    static void untilHeardOf(Runnable round) {
        until("the peer responds until it falls silent", Patience.longBound(), () -> {
            try {
                round.run();
                return true;
            } catch (ConnectionLostException early) {
                return false;
            } catch (AssertionError e) {
                if (e.getCause() instanceof ConnectionLostException) {
                    return false;
                }
                throw e;
            }
        });
    }

    /** One connection with very many transfers of all sizes under way, more than its window takes. */
    final class Crowd implements AutoCloseable {
        // with --soak a test submits more than the default before some have ended
        private static final int MOST_PENDING = 1 << 20;

        private final TransferEngine engine;
        private final Connection connection;
        private final RemoteRegion remote;
        private final MemoryRegion source;
        private final MemoryRegion sink;
        private final List<TerminalSignal> signals = new ArrayList<>();
        private final List<Transfer> transfers = new ArrayList<>();
        private final List<Boolean> writes = new ArrayList<>();
        private final List<EndlessWrites> endless = new ArrayList<>();

        Crowd(TransportUnderTest transport, PeerProcess peer, Consumer<EngineOptions.Builder> options) {
            engine = TransferEngine.open(transport
                    .options()
                    .windowOperations(16)
                    .maxPending(MOST_PENDING)
                    .with(options)
                    .build());
            try {
                connection = await(engine.connect(peer.address()));
                remote = await(connection.attach(peer.region(0)));
            } catch (RuntimeException | Error e) {
                engine.closeAsync();
                throw e;
            }
            source = transport.memory().allocate(engine, MOST_BYTES, RegionOptions.local());
            sink = transport.memory().allocate(engine, MOST_BYTES, RegionOptions.local());
        }

        void submit(int count, Random random) {
            for (int i = 0; i < count; i++) {
                TerminalSignal signal = new TerminalSignal();
                long length = random.nextInt(10) == 0 ? random.nextInt(64) : random.nextInt(MOST_BYTES);
                boolean write = random.nextBoolean();
                transfers.add(
                        write
                                ? connection.write(source, 0, remote, 0, length, TransferOptions.defaults(), signal)
                                : connection.read(sink, 0, remote, 0, length, TransferOptions.defaults(), signal));
                signals.add(signal);
                writes.add(write);
            }
        }

        /** From here on something is under way whenever a fault comes. */
        void neverRest() {
            endless.add(new EndlessWrites(connection, source, remote));
        }

        void awaitSomeEnded() {
            until("some have ended", () -> TerminalSignal.ended(signals) >= signals.size() / 20);
        }

        void assertAllEndedOnce() {
            TerminalSignal.awaitAllOnce(signals);
            endless.forEach(each -> assertThat(each.awaitCut()).isInstanceOf(ConnectionLostException.class));
            for (int i = 0; i < signals.size(); i++) {
                boolean write = writes.get(i);
                signals.get(i)
                        .await()
                        .ifPresent(error -> assertThat(error)
                                .isInstanceOf(ConnectionLostException.class)
                                .satisfies(each -> assertThat(write || !(each instanceof OutcomeUnknownException))
                                        .as("a read's outcome is never unknown")
                                        .isTrue()));
            }
            transfers.forEach(transfer -> {
                assertThat(transfer.isTerminated()).isTrue();
                await(transfer.quiesced());
            });
            await(connection.quiesced());
            assertThat(connection.pending()).isZero();
            assertThat(connection.window().operations()).isZero();
            assertThat(connection.window().bytes()).isZero();
            assertThat(engine.metrics().window().bytes()).isZero();
            await(source.close());
            await(sink.close());
        }

        TransferEngine engine() {
            return engine;
        }

        Connection connection() {
            return connection;
        }

        List<TerminalSignal> signals() {
            return signals;
        }

        @Override
        public void close() {
            await(engine.closeAsync());
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void peerIsKilledInTheMiddle() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        try (PeerProcess peer = PeerProcess.start(transport(), MOST_BYTES);
                Crowd crowd = new Crowd(transport(), peer, options -> {})) {
            // memory alone would be done with few of them before the signal comes
            int count = ContractProfile.of(transport()).transfersInFlight()
                    * (transport().carriesOutInTheCall() ? 10 : 1);
            crowd.submit(count, ContractProfile.random("peerIsKilledInTheMiddle"));
            crowd.neverRest();
            crowd.awaitSomeEnded();
            peer.kill();
            crowd.assertAllEndedOnce();
            failure(crowd.connection().ended(), ConnectionLostException.class);
            assertThat(crowd.connection().state()).isEqualTo(ConnectionState.LOST);
            assertThat(EngineSums.ofTransports(crowd.engine(), TransportMetrics::connectionsLost))
                    .isEqualTo(1);
            assertThat(crowd.engine().connections()).isEmpty();
            peer.awaitDeath();
            failure(crowd.engine().connect(peer.address()), ConnectFailedException.class);
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void peerIsFrozenInTheMiddle() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        untilHeardOf(this::freezeInTheMiddle);
    }

    private void freezeInTheMiddle() {
        try (PeerProcess peer = PeerProcess.start(transport(), MOST_BYTES);
                Crowd crowd = new Crowd(transport(), peer, options -> options.livenessTimeout(LIVENESS))) {
            crowd.submit(
                    ContractProfile.of(transport()).transfersInFlight(),
                    ContractProfile.random("peerIsFrozenInTheMiddle"));
            crowd.awaitSomeEnded();
            peer.freeze();
            int before = crowd.signals().size();
            crowd.submit(50, ContractProfile.random("peerIsFrozenInTheMiddle"));
            TerminalSignal.awaitAll(crowd.signals());
            if (transport().needsTargetToRun()) {
                crowd.assertAllEndedOnce();
                assertThat(crowd.signals().subList(before, before + 50))
                        .as("transfers that the peer never served")
                        .allSatisfy(signal -> assertThat(signal.await()).isPresent());
            }
            failure(crowd.connection().ended(), ConnectionLostException.class);
            assertThat(crowd.connection().state()).isEqualTo(ConnectionState.LOST);

            peer.thaw();
            TransferEngine engine = crowd.engine();
            Connection again = await(engine.connection(peer.address()));
            RemoteRegion remote = await(again.attach(peer.region(0)));
            MemoryRegion source = filled(allocate(engine, MOST_BYTES, RegionOptions.local()), 77);
            TerminalSignal signal = new TerminalSignal();
            again.write(source, 0, remote, 0, MOST_BYTES, TransferOptions.defaults(), signal);
            signal.awaitSuccess();
            assertThat(peer.checksum(0, 0, MOST_BYTES)).isEqualTo(BytePattern.checksum(bytesOf(source)));
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void idlePeerIsFrozen() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        Duration brief = Patience.scaled(Duration.ofMillis(500));
        try (PeerProcess peer = PeerProcess.start(transport(), 4096)) {
            // Where one of the processes is held up for so long, the peer looks dead: now and then, and not each time.
            until("heartbeats keep an idle connection for much longer than the time-out", () -> {
                try (Crowd crowd = new Crowd(transport(), peer, options -> options.livenessTimeout(brief))) {
                    Patience.pause(brief.multipliedBy(2));
                    if (crowd.connection().state() != ConnectionState.OPEN) {
                        return false;
                    }
                    peer.freeze();
                    failure(crowd.connection().ended(), ConnectionLostException.class);
                    return true;
                } catch (SluiceException early) {
                    return false;
                }
            });
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void connectionIsClosedInTheMiddle() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        try (PeerProcess peer = PeerProcess.start(transport(), MOST_BYTES);
                Crowd crowd = new Crowd(transport(), peer, options -> {})) {
            crowd.submit(
                    ContractProfile.of(transport()).transfersInFlight(),
                    ContractProfile.random("connectionIsClosedInTheMiddle"));
            crowd.neverRest();
            crowd.awaitSomeEnded();
            CompletableFuture<Void> closed = crowd.connection().close();
            crowd.assertAllEndedOnce();
            await(closed);
            await(crowd.connection().ended());
            assertThat(crowd.connection().state()).isEqualTo(ConnectionState.CLOSED);
            for (TerminalSignal signal : crowd.signals()) {
                signal.await()
                        .ifPresent(error -> assertThat(error)
                                .isInstanceOfAny(ConnectionClosedException.class, OutcomeUnknownException.class));
            }
            until(
                    "the peer has heard the goodbye",
                    () -> peer.command("connections").equals("0"));
        }
    }

    @Test
    default void peersEngineIsClosedInTheMiddle() {
        int count = ContractProfile.of(transport()).transfersInFlight();
        Random random = ContractProfile.random("peersEngineIsClosedInTheMiddle");
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(16))) {
            MemoryRegion local = pair.local(MOST_BYTES);
            RemoteRegion remote = pair.attach(pair.served(MOST_BYTES));
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                long length = random.nextInt(MOST_BYTES);
                signals.add(
                        random.nextBoolean()
                                ? pair.write(local, 0, remote, 0, length)
                                : pair.read(local, 0, remote, 0, length));
            }
            EndlessWrites endless = new EndlessWrites(pair.connection(), local, remote);
            until("some have ended", () -> TerminalSignal.ended(signals) >= count / 20);
            CompletableFuture<Void> closed = pair.target().closeAsync();
            List<SluiceException> errors = new ArrayList<>(TerminalSignal.awaitAllOnce(signals));
            errors.add(endless.awaitCut());
            assertThat(errors).allSatisfy(error -> assertThat(error.getClass()).isNotEqualTo(SluiceException.class));
            await(closed);
            await(pair.connection().quiesced());
            assertThat(pair.connection().window().operations()).isZero();
            assertThat(pair.connection().window().bytes()).isZero();
            assertThat(pair.connection().state()).isNotEqualTo(ConnectionState.OPEN);
        }
    }

    @Test
    default void ownEngineIsClosedInTheMiddle() {
        int count = ContractProfile.of(transport()).transfersInFlight();
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(16))) {
            MemoryRegion local = pair.local(MOST_BYTES);
            RemoteRegion remote = pair.attach(pair.served(MOST_BYTES));
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                signals.add(
                        i % 2 == 0
                                ? pair.write(local, 0, remote, 0, MOST_BYTES)
                                : pair.read(local, 0, remote, 0, MOST_BYTES));
            }
            EndlessWrites endless = new EndlessWrites(pair.connection(), local, remote);
            until("some have ended", () -> TerminalSignal.ended(signals) >= count / 20);
            CompletableFuture<Void> closed = pair.initiator().closeAsync();
            List<SluiceException> errors = new ArrayList<>(TerminalSignal.awaitAllOnce(signals));
            errors.add(endless.awaitCut());
            assertThat(errors).allSatisfy(error -> assertThat(error.getClass()).isNotEqualTo(SluiceException.class));
            await(closed);
            assertThat(pair.initiator().metrics().window().operations()).isZero();
            assertThat(pair.initiator().metrics().window().bytes()).isZero();
            assertThat(pair.initiator().metrics().pending()).isZero();
        }
    }

    @Test
    default void cancelledTransfersEndOnce() {
        int count = ContractProfile.of(transport()).transfersInFlight();
        Random random = ContractProfile.random("cancelledTransfersEndOnce");
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(16))) {
            MemoryRegion local = pair.local(MOST_BYTES);
            RemoteRegion remote = pair.attach(pair.served(MOST_BYTES));
            List<TerminalSignal> signals = new ArrayList<>();
            List<Transfer> transfers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                TerminalSignal signal = new TerminalSignal();
                long length = random.nextInt(128 << 10);
                transfers.add(
                        random.nextBoolean()
                                ? pair.connection()
                                        .write(local, 0, remote, 0, length, TransferOptions.defaults(), signal)
                                : pair.connection()
                                        .read(local, 0, remote, 0, length, TransferOptions.defaults(), signal));
                signals.add(signal);
                if (random.nextBoolean()) {
                    Transfer victim = transfers.get(random.nextInt(transfers.size()));
                    victim.cancel();
                    if (random.nextBoolean()) {
                        victim.cancel();
                    }
                }
            }
            // the others may all have been faster than their cancels
            TerminalSignal waiting = new TerminalSignal();
            TransferOptions never = TransferOptions.defaults().startAfter(listener -> {});
            transfers.add(pair.connection().write(local, 0, remote, 0, 8, never, waiting));
            transfers.getLast().cancel();
            signals.add(waiting);
            List<SluiceException> errors = TerminalSignal.awaitAllOnce(signals);
            assertThat(errors).isNotEmpty().hasOnlyElementsOfType(TransferCancelledException.class);
            transfers.forEach(transfer -> await(transfer.quiesced()));
            // A cancel does not affect others: the connection goes on.
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
            pair.write(local, 0, remote, 0, MOST_BYTES).awaitSuccess();
            until(
                    "the credits are back",
                    () -> pair.connection().window().operations() == 0
                            && pair.connection().window().bytes() == 0);
        }
    }

    @Test
    default void cancelInsideACallbackEndsTheOther() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1))) {
            MemoryRegion local = pair.local(MOST_BYTES);
            RemoteRegion remote = pair.attach(pair.served(MOST_BYTES));
            List<Transfer> waiting = new ArrayList<>();
            List<TerminalSignal> signals = new ArrayList<>();
            CompletableFuture<Void> submitted = new CompletableFuture<>();
            TerminalSignal first = new TerminalSignal();
            pair.connection().fetchAdd(remote, 0, 1, TransferOptions.defaults(), (transfer, previous, error) -> {
                await(submitted);
                waiting.forEach(Transfer::cancel);
                first.terminated(transfer, error);
            });
            for (int i = 0; i < 20; i++) {
                TerminalSignal signal = new TerminalSignal();
                signals.add(signal);
                waiting.add(
                        pair.connection().write(local, 0, remote, 0, MOST_BYTES, TransferOptions.defaults(), signal));
            }
            submitted.complete(null);
            first.awaitSuccess();
            TerminalSignal.awaitAllOnce(signals);
            assertThat(signals.getLast().await()).containsInstanceOf(TransferCancelledException.class);
            pair.write(local, 0, remote, 0, 8).awaitSuccess();
        }
    }
}
