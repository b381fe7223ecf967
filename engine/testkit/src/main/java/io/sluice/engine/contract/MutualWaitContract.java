package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Transfers that wait for each other's credits, or for each other's end, never do so for ever. */
interface MutualWaitContract extends Contract {
    TransferOptions NEVER_STARTED = TransferOptions.defaults().startAfter(listener -> {});

    @Test
    default void strongSignalBehindAWriteThatNeverStartsEndsWithTheConnection() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            TerminalSignal write = pair.write(source, 0, remote, 0, 8, NEVER_STARTED);
            TerminalSignal signal = pair.signal(new RemoteSignal(remote, 8).strong());
            CompletableFuture<Void> flushed = pair.connection().flush();
            await(pair.connection().close());
            write.awaitFailure(ConnectionClosedException.class);
            signal.awaitFailure(ConnectionClosedException.class);
            await(flushed);
            await(signal.transfer().quiesced());
            assertThat(pair.connection().pending()).isZero();
            assertThat(pair.initiator().metrics().window().operations()).isZero();
        }
    }

    /** The only operation credit is held by a read that is half posted when the signal is let go. */
    @RepeatedTest(5)
    default void strongSignalThatIsLetGoDoesNotStopAHalfPostedTransfer() {
        int size = 16 << 20;
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(1).windowBytes(64 << 10))) {
            MemoryRegion target = pair.local(size);
            RemoteRegion remote = pair.attach(pair.served(size));
            TerminalSignal write = new TerminalSignal();
            var unstarted = pair.connection().write(target, 0, remote, 0, 8, NEVER_STARTED, write);
            TerminalSignal signal = pair.signal(new RemoteSignal(remote, 0).strong());
            TerminalSignal read = pair.read(target, 0, remote, 0, size);
            until("the read is half posted", () -> pair.connection().window().operations() == 1 || read.ended());
            unstarted.cancel();
            write.awaitFailure(TransferCancelledException.class);
            read.awaitSuccess();
            signal.awaitSuccess();
        }
    }

    /**
     * The holder of the engine's only operation credit needs bytes, and the other connection waits for that very
     * credit.
     */
    @Test
    default void connectionsShareOneOperationCreditOfTheEngine() {
        int size = 1 << 20;
        int writes = 20;
        try (TransferEngine target = TransferEngine.open(transport().options().build());
                TransferEngine initiator = TransferEngine.open(transport()
                        .options()
                        .engineWindowOperations(1)
                        .engineWindowBytes(64 << 10)
                        .build())) {
            MemoryRegion source = allocate(initiator, size, RegionOptions.local());
            MemoryRegion served = allocate(target, size, RegionOptions.readWrite());
            List<Connection> connections = new ArrayList<>();
            List<RemoteRegion> remotes = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                connections.add(await(initiator.connect(target.address())));
                remotes.add(await(connections.get(i).attach(served.descriptor())));
            }
            List<TerminalSignal> signals = new ArrayList<>();
            for (int round = 0; round < writes; round++) {
                for (int i = 0; i < connections.size(); i++) {
                    TerminalSignal signal = new TerminalSignal();
                    connections.get(i).write(source, 0, remotes.get(i), 0, size, TransferOptions.defaults(), signal);
                    signals.add(signal);
                }
            }
            TerminalSignal.awaitAllSuccess(signals);
            assertThat(initiator.metrics().window().maxOperationsSeen()).isEqualTo(1);
        }
    }
}
