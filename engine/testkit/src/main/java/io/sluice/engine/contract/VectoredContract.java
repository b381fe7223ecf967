package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many elements, a result for each, and one end. */
interface VectoredContract extends Contract {
    int ELEMENTS = 20_000;
    int BYTES = 40;

    @Test
    default void everyElementHasItsResult() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(2))) {
            MemoryRegion source = filled(pair.local((long) ELEMENTS * BYTES), 1);
            MemoryRegion served = pair.served(source.length());
            MemoryRegion back = pair.local(source.length());
            RemoteRegion remote = pair.attach(served);
            List<TransferElement> there = new ArrayList<>();
            List<TransferElement> home = new ArrayList<>();
            for (int i = 0; i < ELEMENTS; i++) {
                // The other way round at the target, and of all lengths up to the slot's.
                long at = (long) (ELEMENTS - 1 - i) * BYTES;
                int length = i % (BYTES + 1);
                there.add(new TransferElement(source, (long) i * BYTES, remote, at, length));
                home.add(new TransferElement(back, (long) i * BYTES, remote, at, length));
            }
            ElementSignals writes = new ElementSignals(ELEMENTS);
            Transfer transfer = pair.connection().writeVectored(there, TransferOptions.defaults(), writes);
            there.clear();
            writes.terminal().awaitSuccess();
            writes.assertEachElementOnce();
            assertThat(transfer.isTerminated()).isTrue();
            await(transfer.quiesced());
            ElementSignals reads = new ElementSignals(ELEMENTS);
            pair.connection().readVectored(home, TransferOptions.defaults(), reads);
            reads.terminal().awaitSuccess();
            reads.assertEachElementOnce();
            for (int i = 0; i < ELEMENTS; i++) {
                int length = i % (BYTES + 1);
                var slot = bytesOf(back).slice((long) i * BYTES, BYTES);
                BytePattern.assertFilled(slot.slice(0, length), 1, (long) i * BYTES);
                BytePattern.assertAll(slot.slice(length), (byte) 0, "behind element " + i);
            }
        }
    }

    @Test
    default void oneElementOfManyChunks() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowBytes(1 << 20))) {
            MemoryRegion source = filled(pair.local(9 << 20), 1);
            MemoryRegion served = pair.served(source.length());
            ElementSignals signals = new ElementSignals(1);
            pair.connection()
                    .writeVectored(
                            List.of(new TransferElement(source, 0, pair.attach(served), 0, source.length())),
                            TransferOptions.defaults(),
                            signals);
            signals.terminal().awaitSuccess();
            signals.assertEachElementOnce();
            BytePattern.assertFilled(bytesOf(served), 1);
        }
    }

    @Test
    default void someElementsFailAndTheOthersDoNot() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = filled(pair.local((long) ELEMENTS * BYTES), 3);
            MemoryRegion staying = pair.served(source.length());
            MemoryRegion closing = pair.served(source.length());
            RemoteRegion there = pair.attach(staying);
            RemoteRegion gone = pair.attach(closing);
            await(closing.close());
            List<TransferElement> elements = new ArrayList<>();
            int failing = 0;
            for (int i = 0; i < ELEMENTS; i++) {
                boolean fails = i % 3 == 1;
                failing += fails ? 1 : 0;
                elements.add(
                        new TransferElement(source, (long) i * BYTES, fails ? gone : there, (long) i * BYTES, BYTES));
            }
            for (boolean write : new boolean[] {true, false}) {
                ElementSignals signals = new ElementSignals(ELEMENTS);
                if (write) {
                    pair.connection().writeVectored(elements, TransferOptions.defaults(), signals);
                } else {
                    pair.connection().readVectored(elements, TransferOptions.defaults(), signals);
                }
                ElementsFailedException error = signals.terminal().awaitFailure(ElementsFailedException.class);
                assertThat(error.failed()).isEqualTo(failing);
                assertThat(error.elements()).isEqualTo(ELEMENTS);
                assertThat(error).hasCauseInstanceOf(RemoteAccessException.class);
                signals.assertEachElementOnce();
                for (int i = 0; i < ELEMENTS; i++) {
                    Optional<SluiceException> each = signals.error(i);
                    if (i % 3 == 1) {
                        assertThat(each).containsInstanceOf(RemoteAccessException.class);
                    } else if (each.isPresent()) {
                        throw new AssertionError("element " + i + " failed", each.get());
                    }
                }
            }
            for (int i = 0; i < ELEMENTS; i++) {
                var slot = bytesOf(staying).slice((long) i * BYTES, BYTES);
                if (i % 3 == 1) {
                    BytePattern.assertAll(slot, (byte) 0, "element " + i);
                } else {
                    BytePattern.assertFilled(slot, 3, (long) i * BYTES);
                }
            }
            until(
                    "the credits are back",
                    () -> pair.connection().window().operations() == 0
                            && pair.connection().window().bytes() == 0);
        }
    }

    @Test
    default void elementOfAClosedLocalRegionFailsAlone() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion open = pair.local(64);
            MemoryRegion closed = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            await(closed.close());
            ElementSignals signals = new ElementSignals(3);
            pair.connection()
                    .writeVectored(
                            List.of(
                                    new TransferElement(open, 0, remote, 0, 8),
                                    new TransferElement(closed, 0, remote, 8, 8),
                                    new TransferElement(open, 0, remote, 16, 8)),
                            TransferOptions.defaults(),
                            signals);
            ElementsFailedException error = signals.terminal().awaitFailure(ElementsFailedException.class);
            assertThat(error.failed()).isEqualTo(1);
            signals.assertEachElementOnce();
            assertThat(signals.error(0)).isEmpty();
            assertThat(signals.error(1)).containsInstanceOf(RegionClosedException.class);
            assertThat(signals.error(2)).isEmpty();
        }
    }

    @Test
    default void noElementAfterACancel() {
        int elements = 5_000;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(16))) {
            MemoryRegion local = pair.local(4096);
            RemoteRegion remote = pair.attach(pair.served(4096));
            for (int round = 0; round < 20; round++) {
                AtomicReference<Transfer> transfer = new AtomicReference<>();
                int stopAt = 1 + round * 50;
                ElementSignals signals = new ElementSignals(elements) {
                    @Override
                    void elementReported(int soFar) {
                        if (soFar == stopAt) {
                            until("the handle is there", () -> transfer.get() != null);
                            transfer.get().cancel();
                        }
                    }
                };
                transfer.set(pair.connection()
                        .writeVectored(
                                Collections.nCopies(elements, new TransferElement(local, 0, remote, 0, 4096)),
                                TransferOptions.defaults(),
                                signals));
                signals.terminal().awaitFailure(TransferCancelledException.class);
                await(transfer.get().quiesced());
                Patience.pause(Duration.ofMillis(20));
                signals.assertSerialAndTerminalLast();
                assertThat(signals.reported()).as("results after the cancel").isEqualTo(stopAt);
            }
            until(
                    "the credits are back",
                    () -> pair.connection().window().operations() == 0
                            && pair.connection().window().bytes() == 0);
            pair.write(local, 0, remote, 0, 64).awaitSuccess();
        }
    }

    @Test
    default void cancelFromOutsideEndsItOnce() {
        int elements = 5_000;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(16))) {
            MemoryRegion local = pair.local(64 << 10);
            RemoteRegion remote = pair.attach(pair.served(64 << 10));
            List<TransferElement> list =
                    Collections.nCopies(elements, new TransferElement(local, 0, remote, 0, 64 << 10));
            until("a cancel comes before the end", () -> cancelsFromOutside(pair, list));
        }
    }

    /** Cancels a read under way. False if it ended before, as it may where the machine is busy. */
    private static boolean cancelsFromOutside(EnginePair pair, List<TransferElement> list) {
        ElementSignals signals = new ElementSignals(list.size());
        Transfer transfer = pair.connection().readVectored(list, TransferOptions.defaults(), signals);
        until("it flows", () -> signals.reported() > 0);
        transfer.cancel();
        transfer.cancel();
        if (signals.terminal().await().isEmpty()) {
            return false;
        }
        signals.terminal().awaitFailure(TransferCancelledException.class);
        int reported = signals.reported();
        await(transfer.quiesced());
        Patience.pause(Duration.ofMillis(50));
        assertThat(signals.reported()).isEqualTo(reported);
        signals.assertSerialAndTerminalLast();
        return true;
    }

    @Test
    default void emptyListIsRefused() {
        try (EnginePair pair = EnginePair.open(transport())) {
            ElementSignals never = new ElementSignals(0);
            assertThatThrownBy(() -> pair.connection().writeVectored(List.of(), TransferOptions.defaults(), never))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pair.connection().readVectored(List.of(), TransferOptions.defaults(), never))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(never.terminal().count()).isZero();
        }
    }

    @Test
    default void oneBadElementSubmitsNothing() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            bytesOf(local).fill((byte) 1);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            ElementSignals never = new ElementSignals(2);
            assertThatThrownBy(() -> pair.connection()
                            .writeVectored(
                                    List.of(
                                            new TransferElement(local, 0, remote, 0, 64),
                                            new TransferElement(local, 0, remote, 60, 8)),
                                    TransferOptions.defaults(),
                                    never))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            Patience.pause(Duration.ofMillis(50));
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target");
            assertThat(never.terminal().count()).isZero();
            assertThat(never.reported()).isZero();
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void vectoredTransferEndsOnceWhenThePeerIsKilled() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        // at the speed of memory more of them are needed, so that some are left when the peer is killed
        int elements = transport().carriesOutInTheCall() ? 80_000 : 20_000;
        int bytes = 256 << 10;
        try (PeerProcess peer = PeerProcess.start(transport(), bytes);
                TransferEngine engine = TransferEngine.open(
                        transport().options().windowOperations(16).build())) {
            Connection connection = await(engine.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(peer.region(0)));
            MemoryRegion local = allocate(engine, bytes, RegionOptions.local());
            ElementSignals signals = new ElementSignals(elements);
            connection.writeVectored(
                    Collections.nCopies(elements, new TransferElement(local, 0, remote, 0, bytes)),
                    TransferOptions.defaults(),
                    signals);
            until("it flows", () -> signals.reported() >= 50);
            peer.kill();
            SluiceException error = signals.terminal().await().orElseThrow();
            assertThat(error).isInstanceOfAny(ElementsFailedException.class, ConnectionLostException.class);
            Patience.pause(Duration.ofMillis(50));
            signals.assertEachElementOnce();
            until(
                    "the credits are back",
                    () -> connection.window().operations() == 0
                            && connection.window().bytes() == 0);
        }
    }

    @Test
    default void deadlineOfAVectoredTransferIsForTheWhole() {
        Duration deadline = Duration.ofMillis(150);
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1))) {
            MemoryRegion local = pair.local(BYTES);
            RemoteRegion remote = pair.attach(pair.served(BYTES));
            try (TakenWindow window = new TakenWindow(pair)) {
                // none was posted, so that there is nothing to wait for
                await(endsAsAWhole(pair, local, remote, deadline).quiesced());
            }
        }
        if (transport().needsTargetToRun()) {
            // some of them posted, the others not
            try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(256))) {
                MemoryRegion local = pair.local(BYTES);
                RemoteRegion remote = pair.attach(pair.served(BYTES));
                Transfer transfer;
                try (Blockade blockade = Blockade.ofTarget(pair)) {
                    transfer = endsAsAWhole(pair, local, remote, deadline);
                    assertThat(transfer.quiesced()).isNotDone();
                }
                await(transfer.quiesced());
                until("the credits are back", () -> pair.connection().window().operations() == 0);
            }
        }
    }

    /** All of them end by one deadline, posted or not, each with its own result. */
    private static Transfer endsAsAWhole(EnginePair pair, MemoryRegion local, RemoteRegion remote, Duration deadline) {
        int elements = 1_000;
        ElementSignals signals = new ElementSignals(elements);
        long submitted = System.nanoTime();
        Transfer transfer = pair.connection()
                .writeVectored(
                        Collections.nCopies(elements, new TransferElement(local, 0, remote, 0, BYTES)),
                        TransferOptions.defaults().withDeadline(deadline),
                        signals);
        SluiceException error = signals.terminal().await().orElseThrow();
        assertThat(Duration.ofNanos(signals.terminal().endedAt() - submitted)).isGreaterThan(deadline.minusMillis(50));
        Throwable cause = error instanceof ElementsFailedException ? error.getCause() : error;
        assertThat(cause).isInstanceOf(TransferTimeoutException.class);
        Patience.pause(Duration.ofMillis(50));
        signals.assertEachElementOnce();
        for (int i = 0; i < elements; i++) {
            assertThat(signals.error(i)).as("element %d", i).containsInstanceOf(TransferTimeoutException.class);
        }
        return transfer;
    }
}
