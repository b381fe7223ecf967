package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A transfer ends by its deadline, whether it is posted or waits. */
interface DeadlineContract extends Contract {
    /** A liveness time-out longer than any wait, so that it is the deadline that ends a transfer. */
    Duration NEVER = Duration.ofHours(1);

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void deadlinePassesWhileThePeerIsFrozen() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        int bytes = 1 << 20;
        Duration deadline = Duration.ofMillis(200);
        try (PeerProcess peer = PeerProcess.start(transport(), bytes);
                TransferEngine engine = TransferEngine.open(transport()
                        .options()
                        .windowOperations(4)
                        .livenessTimeout(NEVER)
                        .build())) {
            Connection connection = await(engine.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(peer.region(0)));
            MemoryRegion local = allocate(engine, bytes, RegionOptions.local());
            TerminalSignal before = new TerminalSignal();
            connection.write(local, 0, remote, 0, bytes, TransferOptions.defaults(), before);
            before.awaitSuccess();

            peer.freeze();
            TransferOptions options = TransferOptions.defaults().withDeadline(deadline);
            List<TerminalSignal> signals = new ArrayList<>();
            List<Transfer> transfers = new ArrayList<>();
            long submitted = System.nanoTime();
            for (int i = 0; i < 40; i++) {
                TerminalSignal signal = new TerminalSignal();
                long length = i % 4 == 0 ? 8 : bytes;
                transfers.add(
                        i % 2 == 0
                                ? connection.write(local, 0, remote, 0, length, options, signal)
                                : connection.read(local, 0, remote, 0, length, options, signal));
                signals.add(signal);
            }
            List<SluiceException> errors = TerminalSignal.awaitAllOnce(signals);
            if (transport().needsTargetToRun()) {
                assertThat(errors).hasSize(40);
            }
            assertThat(errors).allSatisfy(error -> assertThat(error).isInstanceOf(TransferTimeoutException.class));
            for (TerminalSignal signal : signals) {
                if (signal.await().isPresent()) {
                    assertThat(Duration.ofNanos(signal.endedAt() - submitted)).isGreaterThan(deadline.minusMillis(50));
                }
            }
            // The connection has not been given up, and goes on.
            assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
            peer.thaw();
            transfers.forEach(transfer -> await(transfer.quiesced()));
            until(
                    "the credits are back",
                    () -> connection.window().operations() == 0
                            && connection.window().bytes() == 0);
            TerminalSignal after = new TerminalSignal();
            connection.write(local, 0, remote, 0, bytes, TransferOptions.defaults(), after);
            after.awaitSuccess();
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void deadlinePassesWhileATransferWaitsForCredits() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        try (PeerProcess peer = PeerProcess.start(transport(), Map.of("CONTRACT_REGISTERS_MEMORY", "true"), 4096);
                TransferEngine engine = TransferEngine.open(transport()
                        .options()
                        .windowOperations(1)
                        .livenessTimeout(NEVER)
                        .build())) {
            Connection connection = await(engine.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(peer.region(0)));
            MemoryRegion local = allocate(engine, 4096, RegionOptions.local());
            peer.freeze();
            // the target's processors have to carry it out, on every transport
            FetchOutcome holder = new FetchOutcome();
            connection.fetchAdd(remote, 0, 1, TransferOptions.defaults(), holder);
            until("it holds the only credit", () -> connection.window().operations() == 1);
            TerminalSignal waiter = new TerminalSignal();
            Transfer waiting = connection.write(
                    local, 0, remote, 0, 4096, TransferOptions.defaults().withDeadline(Duration.ofMillis(100)), waiter);
            waiter.awaitFailure(TransferTimeoutException.class);
            // It was never posted, so that there is nothing to wait for.
            await(waiting.quiesced());
            assertThat(holder.terminal().ended()).isFalse();
            peer.thaw();
            holder.awaitPrevious();
        }
    }

    @Test
    default void deadlineThatIsNotReachedDoesNothing() {
        // The longest one there is must not overflow anything.
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            TransferOptions generous = TransferOptions.defaults().withDeadline(Patience.BOUND);
            TransferOptions endless = TransferOptions.defaults().withDeadline(Duration.ofDays(365));
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                signals.add(pair.write(local, 0, remote, 0, 64, i % 2 == 0 ? generous : endless));
            }
            assertThat(TerminalSignal.awaitAllOnce(signals)).isEmpty();
        }
    }

    @Test
    default void deadlinesThatPassAfterTheEndGiveNoSecondSignal() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            TransferOptions brief = TransferOptions.defaults().withDeadline(Duration.ofMillis(100));
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                signals.add(pair.write(local, 0, remote, 0, 64, brief));
            }
            TerminalSignal.awaitAll(signals);
            // beyond the deadline of the last
            Patience.pause(Duration.ofMillis(150));
            assertThat(TerminalSignal.awaitAllOnce(signals))
                    .allSatisfy(error -> assertThat(error).isInstanceOf(TransferTimeoutException.class));
        }
    }
}
