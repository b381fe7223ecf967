package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.StartEventException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Batches in part of which a connection fails or is held up, and batches that are cancelled, time out or do not start. */
interface BatchFailureContract extends Contract {
    int OTHERS = 3;
    TransferOptions DEFAULTS = TransferOptions.defaults();

    @Test
    default void refusedElementsFailAlone() {
        int count = 1_000;
        int slot = 64;
        try (SeveralPeers peers =
                new SeveralPeers(transport(), OTHERS, (long) count * slot, initiator -> initiator.pollers(2))) {
            MemoryRegion source = peers.local((long) count * slot);
            await(peers.served(2).close());
            List<TransferElement> elements = peers.elements(source, count, slot);
            ElementSignals signals = new ElementSignals(count);
            peers.initiator().writeVectored(elements, DEFAULTS, signals);
            ElementsFailedException error = signals.terminal().awaitFailure(ElementsFailedException.class);
            signals.assertEachElementOnce();
            assertThat(error.failed()).isEqualTo(count / peers.count());
            assertThat(error.elements()).isEqualTo(count);
            assertThat(error).hasCauseInstanceOf(RemoteAccessException.class);
            assertFailed(peers, signals, count, 2, RemoteAccessException.class);
            peers.assertCreditsReturn();
        }
    }

    private static void assertFailed(
            SeveralPeers peers, ElementSignals signals, int count, int connection, Class<?> type) {
        for (int i = 0; i < count; i++) {
            if (i % peers.count() == connection) {
                assertThat(signals.error(i)).as("element %d", i).isPresent();
                assertThat(signals.error(i).get()).isInstanceOf(type);
            } else {
                assertThat(signals.error(i)).as("element %d", i).isEmpty();
            }
        }
    }

    @Test
    default void elementsOfAConnectionThatHasEndedFailAlone() {
        int count = 1_000;
        int slot = 64;
        try (SeveralPeers peers =
                new SeveralPeers(transport(), OTHERS, (long) count * slot, initiator -> initiator.pollers(2))) {
            MemoryRegion source = peers.local((long) count * slot);
            await(peers.connection(0).close());
            ElementSignals signals = new ElementSignals(count);
            peers.initiator().writeVectored(peers.elements(source, count, slot), DEFAULTS, signals);
            ElementsFailedException error = signals.terminal().awaitFailure(ElementsFailedException.class);
            signals.assertEachElementOnce();
            assertThat(error.failed()).isEqualTo(count / peers.count());
            assertFailed(peers, signals, count, 0, ConnectionLostException.class);
            peers.assertCreditsReturn();
        }
    }

    @Test
    default void connectionThatIsClosedInTheMiddleFailsItsElementsAlone() {
        int count = countThatLasts(2_000);
        int slot = 64 << 10;
        for (int round = 0; round < 3; round++) {
            try (SeveralPeers peers = new SeveralPeers(
                    transport(), OTHERS, slot, initiator -> initiator.pollers(2).windowOperations(4))) {
                MemoryRegion source = peers.local(slot);
                List<TransferElement> elements = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    elements.add(new TransferElement(source, 0, peers.remote(i % peers.count()), 0, slot));
                }
                Connection victim = peers.connection(3);
                TransferEngine host = peers.target(3);
                boolean here = round == 0;
                CompletableFuture<CompletableFuture<Void>> closing = new CompletableFuture<>();
                ElementSignals signals = new ElementSignals(count) {
                    @Override
                    void elementReported(int soFar) {
                        // it flows
                        if (soFar == 50) {
                            closing.complete(here ? victim.close() : host.closeAsync());
                        }
                    }
                };
                peers.initiator().writeVectored(elements, DEFAULTS, signals);
                CompletableFuture<Void> closed = await(closing);
                SluiceException error = signals.terminal().await().orElse(null);
                signals.assertEachElementOnce();
                int failed = 0;
                for (int i = 0; i < count; i++) {
                    if (signals.error(i).isPresent()) {
                        failed++;
                        assertThat(i % peers.count())
                                .as("the connection of element %d", i)
                                .isEqualTo(3);
                    }
                }
                if (here || transport().needsTargetToRun()) {
                    assertThat(failed)
                            .as("elements that the close came in time for")
                            .isPositive();
                }
                if (failed == 0) {
                    assertThat(error).isNull();
                } else {
                    assertThat(error)
                            .isInstanceOfSatisfying(
                                    ElementsFailedException.class,
                                    e -> assertThat(e.elements()).isEqualTo(count));
                    assertThat(((ElementsFailedException) error).failed()).isEqualTo(failed);
                }
                await(closed);
                peers.assertCreditsReturn();
            }
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void peerThatIsKilledFailsItsElementsAlone() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        // requests left when the peer is killed cost no time
        int count = countThatLasts(
                Math.min(15_000, 30 * ContractProfile.of(transport()).transfersInFlight()));
        int slot = (int) ContractProfile.of(transport()).comparedBytes() / 32;
        try (PeerProcess peer = PeerProcess.start(transport(), slot);
                SeveralPeers peers = new SeveralPeers(
                        transport(), 2, slot, initiator -> initiator.pollers(2).windowOperations(8))) {
            Connection dying = await(peers.initiator().connect(peer.address()));
            RemoteRegion remote = await(dying.attach(peer.region(0)));
            MemoryRegion source = peers.local(slot);
            List<TransferElement> elements = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                RemoteRegion to = i % 2 == 0 ? remote : peers.remote(i / 2 % peers.count());
                elements.add(new TransferElement(source, 0, to, 0, slot));
            }
            ElementSignals signals = new ElementSignals(count);
            Transfer transfer = peers.initiator().writeVectored(elements, DEFAULTS, signals);
            until("it flows", () -> signals.reported() > 50);
            peer.kill();
            ElementsFailedException error = signals.terminal().awaitFailure(ElementsFailedException.class);
            Patience.pause(Duration.ofMillis(50));
            signals.assertEachElementOnce();
            int failed = 0;
            for (int i = 0; i < count; i++) {
                if (signals.error(i).isPresent()) {
                    failed++;
                    assertThat(i % 2)
                            .as("whether element %d was another peer's", i)
                            .isZero();
                    assertThat(signals.error(i).get()).isInstanceOf(ConnectionLostException.class);
                }
            }
            assertThat(error.failed()).isEqualTo(failed);
            await(transfer.quiesced());
            peers.assertCreditsReturn();
        }
    }

    @Test
    default void peerThatIsHeldUpHoldsOnlyItsOwnElementsUp() {
        int count = 1_000;
        int slot = 4096;
        try (SeveralPeers peers = new SeveralPeers(
                transport(), OTHERS, (long) count * slot, initiator -> initiator.windowOperations(windowHeldUp(4)))) {
            MemoryRegion source = peers.local((long) count * slot);
            int held = 4;
            int others = count - count / peers.count();
            ElementSignals signals = new ElementSignals(count);
            try (HeldUpPeer peer = peers.heldUp(held)) {
                peers.initiator().writeVectored(peers.elements(source, count, slot), DEFAULTS, signals);
                until("the others' elements have ended", () -> signals.reported() == others);
                Patience.pause(Duration.ofMillis(20));
                assertThat(signals.reported()).isEqualTo(others);
                assertThat(signals.terminal().ended()).isFalse();
            }
            signals.terminal().awaitSuccess();
            signals.assertEachElementOnce();
        }
    }

    /**
     * The number of elements held up; if the target takes no part, only the one credit that it keeps holds elements up.
     */
    private int windowHeldUp(int whereTheTargetTakesPart) {
        return transport().needsTargetToRun() ? whereTheTargetTakesPart : 1;
    }

    @Test
    default void deadlineIsForTheWholeBatch() {
        // enough for the others' elements, or where the machine is busy a longer one is
        Duration deadline = Patience.scaled(Duration.ofMillis(300));
        while (!endsByItsDeadline(deadline)) {
            deadline = deadline.multipliedBy(2);
            assertThat(deadline).as("a deadline that the others' elements keep").isLessThan(Patience.BOUND);
        }
    }

    /** Has a batch reach its deadline over one connection of several. False if elements of another have reached it, too. */
    private boolean endsByItsDeadline(Duration deadline) {
        int count = 100;
        int slot = 4096;
        int held = 3;
        try (SeveralPeers peers = new SeveralPeers(
                transport(),
                OTHERS,
                (long) count * slot,
                initiator -> initiator.pollers(2).windowOperations(windowHeldUp(256)))) {
            MemoryRegion source = peers.local((long) count * slot);
            ElementSignals signals = new ElementSignals(count);
            Transfer transfer;
            try (HeldUpPeer peer = peers.heldUp(held)) {
                transfer = peers.initiator()
                        .writeVectored(peers.elements(source, count, slot), DEFAULTS.withDeadline(deadline), signals);
                SluiceException error = signals.terminal().await().orElseThrow();
                Throwable cause = error instanceof ElementsFailedException ? error.getCause() : error;
                assertThat(cause).isInstanceOf(TransferTimeoutException.class);
                signals.assertEachElementOnce();
                if (IntStream.range(0, count)
                        .filter(i -> i % peers.count() != held)
                        .mapToObj(signals::error)
                        .flatMap(Optional::stream)
                        .anyMatch(TransferTimeoutException.class::isInstance)) {
                    return false;
                }
                assertFailed(peers, signals, count, held, TransferTimeoutException.class);
                if (transport().needsTargetToRun()) {
                    assertThat(transfer.quiesced()).isNotDone();
                } else {
                    // none of those was posted, so that there is nothing to wait for
                    await(transfer.quiesced());
                }
            }
            await(transfer.quiesced());
            peers.assertCreditsReturn();
            Patience.pause(Duration.ofMillis(20));
            signals.assertEachElementOnce();
            return true;
        }
    }

    @Test
    default void noElementOfABatchAfterACancel() {
        int count = countThatLasts(3_000);
        int slot = 4096;
        try (SeveralPeers peers = new SeveralPeers(
                transport(), OTHERS, slot, initiator -> initiator.pollers(4).windowOperations(4))) {
            MemoryRegion local = peers.local(slot);
            List<TransferElement> elements = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                elements.add(new TransferElement(local, 0, peers.remote(i % peers.count()), 0, slot));
            }
            for (int round = 0; round < 10; round++) {
                int stopAt = 1 + round * 60;
                boolean fromInside = round % 2 == 0;
                until("a cancel comes before a batch ends", () -> cancelsUnderWay(peers, elements, stopAt, fromInside));
            }
        }
    }

    /** Cancels a batch once some elements are reported. False if it ended before, as it may where the machine is busy. */
    private static boolean cancelsUnderWay(
            SeveralPeers peers, List<TransferElement> elements, int stopAt, boolean fromInside) {
        AtomicReference<Transfer> transfer = new AtomicReference<>();
        ElementSignals signals = new ElementSignals(elements.size()) {
            @Override
            void elementReported(int soFar) {
                if (fromInside && soFar == stopAt) {
                    until("the handle is there", () -> transfer.get() != null);
                    transfer.get().cancel();
                }
            }
        };
        transfer.set(peers.initiator().writeVectored(elements, DEFAULTS, signals));
        if (!fromInside) {
            until("it flows", () -> signals.reported() >= stopAt);
            transfer.get().cancel();
            transfer.get().cancel();
            if (signals.terminal().await().isEmpty()) {
                return false;
            }
        }
        signals.terminal().awaitFailure(TransferCancelledException.class);
        int reported = signals.reported();
        await(transfer.get().quiesced());
        Patience.pause(Duration.ofMillis(20));
        signals.assertSerialAndTerminalLast();
        assertThat(signals.reported()).isEqualTo(reported).isLessThan(elements.size());
        peers.assertCreditsReturn();
        return true;
    }

    @Test
    default void batchIsQuiescentWhenNothingLooksAtItsEvent() {
        int count = 2 * OTHERS;
        try (SeveralPeers peers = new SeveralPeers(transport(), OTHERS, 64L * count, initiator -> {})) {
            MemoryRegion source = peers.local(64L * count);
            AtomicReference<StartEvent.Listener> listener = new AtomicReference<>();
            ElementSignals signals = new ElementSignals(count);
            Transfer transfer = peers.initiator()
                    .writeVectored(peers.elements(source, count, 64), DEFAULTS.startAfter(listener::set), signals);
            HeldLook look = new HeldLook(listener.get(), transfer);
            transfer.cancel();
            signals.terminal().awaitFailure(TransferCancelledException.class);
            look.assertQuiescentOnlyOnceItIsOver(transfer);
        }
    }

    @Test
    default void batchWhoseEventFails() {
        int count = 100;
        try (SeveralPeers peers =
                new SeveralPeers(transport(), OTHERS, 64L * count, initiator -> initiator.pollers(2))) {
            MemoryRegion source = filled(peers.local(64L * count), 6);
            Exception cause = new Exception("the device is gone");
            ElementSignals signals = new ElementSignals(count);
            Transfer transfer = peers.initiator()
                    .writeVectored(
                            peers.elements(source, count, 64),
                            DEFAULTS.startAfter(listener -> listener.happened(cause)),
                            signals);
            SluiceException error = signals.terminal().await().orElseThrow();
            // As over one connection: it fails the whole transfer.
            assertThat(error).isInstanceOf(StartEventException.class).hasCause(cause);
            signals.assertEachElementOnce();
            await(transfer.quiesced());
            for (int i = 0; i < peers.count(); i++) {
                BytePattern.assertAll(bytesOf(peers.served(i)), (byte) 0, "a target");
            }
            peers.assertCreditsReturn();
        }
    }

    /** A retry from the callback must neither run inside its own call nor deepen the stack. */
    @Test
    default void batchToAConnectionThatHasEndedCallsBackOnAPollerWithoutRecursion() {
        int retries = 20_000;
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(8);
            RemoteRegion remote = pair.attach(pair.served(8));
            await(pair.connection().close());
            List<TransferElement> elements = List.of(new TransferElement(local, 0, remote, 0, 8));
            CompletableFuture<Integer> done = new CompletableFuture<>();
            pair.initiator().writeVectored(elements, DEFAULTS, new VectoredTransferCallback() {
                private int ended;
                private int depth;
                private int deepest;

                @Override
                public void element(int index, @Nullable SluiceException error) {}

                @Override
                public void terminated(Transfer transfer, @Nullable SluiceException error) {
                    if (!TransferEngine.isPollerThread(Thread.currentThread())) {
                        done.completeExceptionally(new AssertionError("called back on " + Thread.currentThread()));
                    }
                    depth++;
                    deepest = Math.max(deepest, depth);
                    if (++ended < retries) {
                        pair.initiator().writeVectored(elements, DEFAULTS, this);
                    } else {
                        done.complete(deepest);
                    }
                    depth--;
                }
            });
            assertThat(await(done)).isEqualTo(1);
        }
    }

    /** The number of elements, more at the speed of memory, so that some are left when the fault happens. */
    private int countThatLasts(int count) {
        return transport().carriesOutInTheCall() ? 20 * count : count;
    }
}
