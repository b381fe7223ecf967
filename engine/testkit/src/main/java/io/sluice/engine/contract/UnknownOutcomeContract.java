package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The outcomes of operations in flight when a connection ends: nothing is sent a second time. */
interface UnknownOutcomeContract extends Contract {
    /** The side that ends the connection. */
    enum Cut {
        INITIATOR,
        TARGET,
        TARGETS_ENGINE,
        INITIATORS_ENGINE;

        CompletableFuture<Void> of(EnginePair pair) {
            return switch (this) {
                case INITIATOR -> pair.connection().close();
                case TARGET -> pair.accepted().close();
                case TARGETS_ENGINE -> pair.target().closeAsync();
                case INITIATORS_ENGINE -> pair.initiator().closeAsync();
            };
        }
    }

    /** Operations that each add 1 to a word of its own, in turn by all the ways there are. */
    private static TerminalSignal addOne(
            Connection connection, MemoryRegion source, RemoteRegion remote, int word, TransferOptions options) {
        TerminalSignal signal = new TerminalSignal();
        long offset = 8L * word;
        switch (word % 4) {
            case 0 ->
                connection.fetchAdd(
                        remote, offset, 1, options, (transfer, previous, error) -> signal.terminated(transfer, error));
            case 1 -> connection.signal(new RemoteSignal(remote, offset).weak(), options, signal);
            case 2 ->
                connection.writeWithSignal(
                        source, 0, remote, 0, 0, new RemoteSignal(remote, offset).weak(), options, signal);
            default -> connection.put(remote, offset, 1, 8, options, signal);
        }
        return signal;
    }

    @ParameterizedTest
    @EnumSource
    default void connectionIsCutWhileOperationsAreUnderWay(Cut cut) {
        int words = 4000;
        AtomicInteger cutShort = new AtomicInteger();
        // now and then all operations end before the cut
        for (int round = 0; round < 4 || (cutShort.get() == 0 && round < 50); round++) {
            try (EnginePair pair = EnginePair.open(
                            transport(), both -> both.windowOperations(16).lanes(2));
                    // it outlives the engine that serves it
                    OwnMemory memory = ownMemory(8L * words, 64)) {
                MemoryRegion served = memory.register(pair.target(), RegionOptions.readWrite());
                RemoteRegion remote = pair.attach(served);
                MemoryRegion source = pair.local(64);
                List<TerminalSignal> signals = new ArrayList<>();
                for (int word = 0; word < words; word++) {
                    signals.add(addOne(pair.connection(), source, remote, word, TransferOptions.defaults()));
                }
                int enough = 20 + 30 * (round % 4);
                until("it flows", () -> TerminalSignal.ended(signals) >= enough);
                await(cut.of(pair));
                TerminalSignal.awaitAllOnce(signals);
                await(pair.accepted().close());
                await(served.close());
                for (int word = 0; word < words; word++) {
                    long value = memory.bytes().longAt(8L * word);
                    SluiceException error = signals.get(word).await().orElse(null);
                    if (error == null) {
                        assertThat(value)
                                .as("word %d, whose operation succeeded", word)
                                .isEqualTo(1);
                        continue;
                    }
                    cutShort.incrementAndGet();
                    // The regions of a closing engine may go before its connections.
                    assertThat(error).isInstanceOfAny(ConnectionLostException.class, RemoteAccessException.class);
                    if (error instanceof OutcomeUnknownException) {
                        assertThat(value)
                                .as("word %d, of an unknown outcome", word)
                                .isBetween(0L, 1L);
                    } else {
                        assertThat(value)
                                .as("word %d, whose operation was not carried out", word)
                                .isZero();
                    }
                }
            }
        }
        assertThat(cutShort).as("operations that were cut short").hasPositiveValue();
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void whatWasNotPostedHasAKnownOutcome() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        TerminalSignalContract.untilHeardOf(this::freezeBeforeOperations);
    }

    private void freezeBeforeOperations() {
        int words = 40;
        int window = 4;
        // the target's processors have to change such words, on every transport
        Map<String, String> registered = Map.of("CONTRACT_REGISTERS_MEMORY", "true");
        try (PeerProcess peer = PeerProcess.start(transport(), registered, 8L * words);
                TransferEngine engine = TransferEngine.open(transport()
                        .options()
                        .windowOperations(window)
                        .livenessTimeout(TerminalSignalContract.LIVENESS)
                        .build())) {
            Connection connection = await(engine.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(peer.region(0)));
            MemoryRegion source = allocate(engine, 64, RegionOptions.local());
            peer.freeze();
            List<TerminalSignal> signals = new ArrayList<>();
            for (int word = 0; word < words; word++) {
                signals.add(addOne(connection, source, remote, word, TransferOptions.defaults()));
            }
            // it stays full until then, of operations whose outcome is not known
            failure(connection.ended(), ConnectionLostException.class);
            TerminalSignal.awaitAllOnce(signals);
            peer.thaw();
            // A new connection carries nothing of the old one.
            Connection again = await(engine.connect(peer.address()));
            RemoteRegion attachedAgain = await(again.attach(peer.region(0)));
            Patience.pause(Duration.ofMillis(50));
            MemoryRegion sink = allocate(engine, 8L * words, RegionOptions.local());
            TerminalSignal read = new TerminalSignal();
            again.read(sink, 0, attachedAgain, 0, 8L * words, TransferOptions.defaults(), read);
            read.awaitSuccess();
            int unknown = 0;
            for (int word = 0; word < words; word++) {
                SluiceException error = signals.get(word).await().orElse(null);
                long value = bytesOf(sink).longAt(8L * word);
                if (error == null) {
                    // an adapter puts bytes where no processor runs
                    assertThat(transport().needsTargetToRun()).isFalse();
                    assertThat(word % 4)
                            .as("the kind of word %d's operation", word)
                            .isEqualTo(3);
                    assertThat(value).as("word %d, that was put", word).isEqualTo(1);
                    continue;
                }
                assertThat(error).isInstanceOf(ConnectionLostException.class);
                if (error instanceof OutcomeUnknownException) {
                    unknown++;
                    assertThat(value).as("word %d, of an unknown outcome", word).isBetween(0L, 1L);
                } else {
                    assertThat(value)
                            .as("word %d, of an operation that was not sent", word)
                            .isZero();
                }
            }
            assertThat(unknown).as("operations that had a credit").isBetween(1, window);
        }
    }

    @Test
    default void largeWriteThatIsCutHasAnUnknownOutcome() {
        boolean cut = false;
        int rounds = transport().needsTargetToRun() ? 1 : WhilePosted.MOST_ROUNDS;
        for (int round = 0; !cut && round < rounds; round++) {
            cut = largeWriteIsCut();
        }
        assertThat(cut).as("a write was cut while it was posted").isTrue();
    }

    /** False if all of it had gone before. */
    private boolean largeWriteIsCut() {
        long bytes = WhilePosted.BYTES;
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = filled(pair.local(bytes), 7);
            MemoryRegion counters = pair.served(8);
            MemoryRegion served = pair.served(bytes);
            RemoteRegion remote = pair.attach(served);
            RemoteSignal counter = new RemoteSignal(pair.attach(counters), 0);
            TerminalSignal posted = new TerminalSignal();
            Runnable start = () -> pair.connection()
                    .writeWithSignal(source, 0, remote, 0, bytes, counter.weak(), TransferOptions.defaults(), posted);
            Optional<SluiceException> error;
            try (Blockade blockade = Blockade.ofTarget(pair)) {
                TerminalSignal waiting = pair.write(
                        source, 0, remote, 0, 8, TransferOptions.defaults().startAfter(listener -> {}));
                if (transport().needsTargetToRun()) {
                    start.run();
                    until("it is posted", () -> pair.connection().window().bytes() > 16 << 20);
                    Patience.pause(Duration.ofMillis(50));
                    pair.connection().close();
                } else {
                    await(WhilePosted.act(
                            transport(),
                            pair.connection(),
                            source,
                            remote,
                            start,
                            () -> pair.connection().close()));
                }
                error = posted.await();
                assertThat(waiting.awaitFailure(ConnectionLostException.class))
                        .isNotInstanceOf(OutcomeUnknownException.class);
            }
            await(pair.connection().close());
            await(pair.accepted().close());
            assertThat(posted.count()).isEqualTo(1);
            error.ifPresent(cut -> assertThat(cut).isInstanceOf(OutcomeUnknownException.class));
            if (error.isEmpty() || counters.signal(0).value() != 0) {
                // no signal of a part of a write
                assertThat(counters.signal(0).value()).isEqualTo(1);
                assertThat(transport().needsTargetToRun())
                        .as("all of it has gone though the target took nothing")
                        .isFalse();
                BytePattern.assertFilled(bytesOf(served), 7);
            }
            return error.isPresent();
        }
    }

    @ParameterizedTest
    @EnumSource
    default void nothingLandsOnceTheConnectionAndTheRegionAreClosed(Cut cut) {
        int bytes = 4 << 20;
        byte canary = (byte) 0xA5;
        for (int round = 0; round < 3; round++) {
            try (EnginePair pair =
                            EnginePair.open(transport(), both -> both.lanes(2).windowOperations(8));
                    OwnMemory target = ownMemory(bytes, 4096);
                    OwnMemory sunk = ownMemory(bytes, 4096)) {
                MemoryRegion served = target.register(pair.target(), RegionOptions.readWrite());
                MemoryRegion sink = sunk.register(pair.initiator(), RegionOptions.local());
                MemoryRegion source = pair.local(bytes);
                RemoteRegion remote = pair.attach(served);
                RemoteRegion other = pair.attach(pair.served(bytes));
                List<TerminalSignal> signals = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    signals.add(pair.write(source, 0, remote, 0, bytes));
                    signals.add(pair.read(sink, 0, other, 0, bytes));
                    signals.add(pair.fetchAdd(remote, 8L * i, 1).terminal());
                }
                until("it flows", () -> TerminalSignal.ended(signals) > 2);
                CompletableFuture<Void> ended = cut.of(pair);
                await(served.close());
                target.bytes().fill(canary);
                await(sink.close());
                sunk.bytes().fill(canary);
                await(ended);
                TerminalSignal.awaitAllOnce(signals);
                Patience.pause(Duration.ofMillis(30));
                BytePattern.assertAll(target.bytes(), canary, "the target after its close, round " + round);
                BytePattern.assertAll(sunk.bytes(), canary, "the sink after its close, round " + round);
            }
        }
    }

    @Test
    default void newConnectionCarriesNothingOfTheOldOne() {
        int words = 400;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(8))) {
            MemoryRegion served = pair.served(8L * words);
            MemoryRegion source = pair.local(64);
            Connection connection = pair.connection();
            Connection accepted = pair.accepted();
            for (int round = 0; round < 5; round++) {
                RemoteRegion remote = await(connection.attach(served.descriptor()));
                List<TerminalSignal> signals = new ArrayList<>();
                for (int word = 0; word < words; word++) {
                    signals.add(addOne(connection, source, remote, word, TransferOptions.defaults()));
                }
                until("it flows", () -> TerminalSignal.ended(signals) > 20);
                await(connection.close());
                await(accepted.close());
                // The target's side has ended: from here on nothing of it is carried out any more.
                bytesOf(served).fill((byte) 0);
                CompletableFuture<Connection> other = new CompletableFuture<>();
                Connection old = accepted;
                try (TransferEngine.ListenerHandle listening = pair.target().onConnection(each -> {
                    if (each != old) {
                        other.complete(each);
                    }
                })) {
                    connection = await(pair.initiator().connect(pair.target().address()));
                    accepted = await(other);
                }
                await(connection.quiet());
                Patience.pause(Duration.ofMillis(10));
                BytePattern.assertAll(bytesOf(served), (byte) 0, "the words after the end of their connection");
                TerminalSignal.awaitAllOnce(signals);
            }
        }
    }
}
