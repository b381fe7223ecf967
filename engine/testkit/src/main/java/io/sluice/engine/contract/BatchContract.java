package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.CompletionEvent;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.StartEvent;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** One vectored transfer over connections to many peers. */
public interface BatchContract extends BatchFailureContract {
    @Test
    default void elementsOfManyConnectionsHaveTheirResults() {
        int count = 5_000;
        int slot = 200;
        Random random = ContractProfile.random("elementsOfManyConnectionsHaveTheirResults");
        try (SeveralPeers peers = new SeveralPeers(
                transport(),
                OTHERS,
                (long) count * slot,
                initiator -> initiator.pollers(4).lanes(2))) {
            MemoryRegion source = filled(peers.local((long) count * slot), 1);
            MemoryRegion back = peers.local(source.length());
            for (int round = 0; round < 4; round++) {
                bytesOf(back).fill((byte) 0);
                List<TransferElement> there = peers.elements(source, count, slot);
                List<TransferElement> home = peers.elements(back, count, slot);
                Collections.shuffle(there, random);
                Collections.shuffle(home, random);
                Connection first = there.getFirst().remote().connection();
                ElementSignals writes = new ElementSignals(count);
                Transfer transfer = peers.initiator().writeVectored(there, DEFAULTS, writes);
                there.clear();
                assertThat(transfer.connection()).isSameAs(first);
                writes.terminal().awaitSuccess();
                writes.assertEachElementOnce();
                assertThat(transfer.isTerminated()).isTrue();
                assertThat(writes.terminal().transfer()).isSameAs(transfer);
                await(transfer.quiesced());
                ElementSignals reads = new ElementSignals(count);
                peers.initiator().readVectored(home, DEFAULTS, reads);
                reads.terminal().awaitSuccess();
                reads.assertEachElementOnce();
                BytePattern.assertFilled(bytesOf(back), 1);
            }
            for (int i = 0; i < peers.count(); i++) {
                for (int element = 0; element < count; element++) {
                    var target = bytesOf(peers.served(i)).slice((long) element * slot, slot);
                    if (element % peers.count() == i) {
                        BytePattern.assertFilled(target, 1, (long) element * slot);
                    } else {
                        BytePattern.assertAll(target, (byte) 0, "the place of another peer's element");
                    }
                }
            }
            peers.assertCreditsReturn();
        }
    }

    @Test
    default void manyBatchesAtOnceFromManyThreads() {
        int count = 40;
        int slot = 30_000;
        try (SeveralPeers peers = new SeveralPeers(
                transport(),
                OTHERS,
                (long) count * slot,
                initiator -> initiator.pollers(4).windowOperations(4).windowBytes(64 << 10))) {
            MemoryRegion source = filled(peers.local((long) count * slot), 1);
            ManyThreads.run(4, number -> {
                List<ElementSignals> all = new ArrayList<>();
                for (int i = 0; i < 25; i++) {
                    ElementSignals signals = new ElementSignals(count);
                    all.add(signals);
                    peers.initiator().writeVectored(peers.elements(source, count, slot), DEFAULTS, signals);
                }
                for (ElementSignals signals : all) {
                    signals.terminal().awaitSuccess();
                    signals.assertEachElementOnce();
                }
            });
            for (int i = 0; i < peers.count(); i++) {
                assertThat(peers.connection(i).window().maxOperationsSeen()).isBetween(1, 4);
                assertThat(peers.connection(i).window().maxBytesSeen()).isLessThanOrEqualTo(64 << 10);
            }
            peers.assertCreditsReturn();
        }
    }

    @Test
    default void oneElementAndOneConnection() {
        try (SeveralPeers peers = new SeveralPeers(transport(), 1, 64, initiator -> {})) {
            MemoryRegion local = filled(peers.local(64), 3);
            ElementSignals one = new ElementSignals(1);
            peers.initiator()
                    .writeVectored(List.of(new TransferElement(local, 0, peers.remote(1), 0, 64)), DEFAULTS, one);
            one.terminal().awaitSuccess();
            one.assertEachElementOnce();
            ElementSignals nothing = new ElementSignals(peers.count());
            List<TransferElement> empty = new ArrayList<>();
            for (int i = 0; i < peers.count(); i++) {
                empty.add(new TransferElement(local, 0, peers.remote(i), 64, 0));
            }
            peers.initiator().readVectored(empty, DEFAULTS, nothing);
            nothing.terminal().awaitSuccess();
            nothing.assertEachElementOnce();
            BytePattern.assertFilled(bytesOf(peers.served(1)), 3);
        }
    }

    @Test
    default void badBatchesSubmitNothing() {
        try (SeveralPeers peers = new SeveralPeers(transport(), 2, 64, initiator -> {});
                TransferEngine stranger =
                        TransferEngine.open(transport().options().build())) {
            MemoryRegion local = peers.local(64);
            bytesOf(local).fill((byte) 1);
            RemoteRegion strangers =
                    await(await(stranger.connect(peers.target(1).address()))
                            .attach(peers.served(1).descriptor()));
            RemoteRegion readable =
                    await(peers.connection(1).attach(peers.served(1).descriptor(Set.of(Access.REMOTE_READ))));
            TransferElement good = new TransferElement(local, 0, peers.remote(2), 0, 64);
            assertRefused(peers, IllegalArgumentException.class);
            assertRefused(peers, IllegalArgumentException.class, good, new TransferElement(local, 0, strangers, 0, 8));
            assertRefused(
                    peers,
                    IllegalArgumentException.class,
                    good,
                    new TransferElement(allocate(stranger, 64, RegionOptions.local()), 0, peers.remote(0), 0, 8));
            assertRefused(
                    peers,
                    IllegalArgumentException.class,
                    good,
                    new TransferElement(peers.served(1), 0, peers.remote(1), 0, 8));
            assertRefused(
                    peers,
                    IndexOutOfBoundsException.class,
                    good,
                    new TransferElement(local, 0, peers.remote(1), 60, 8));
            assertRefused(
                    peers,
                    IndexOutOfBoundsException.class,
                    good,
                    new TransferElement(local, 60, peers.remote(1), 0, 8));
            ElementSignals never = new ElementSignals(2);
            assertThatThrownBy(() -> peers.initiator()
                            .writeVectored(
                                    List.of(good, new TransferElement(local, 0, readable, 0, 8)), DEFAULTS, never))
                    .isInstanceOf(RemoteAccessException.class);
            assertThat(never.terminal().count()).isZero();
            Patience.pause(Duration.ofMillis(50));
            for (int i = 0; i < peers.count(); i++) {
                BytePattern.assertAll(bytesOf(peers.served(i)), (byte) 0, "a target");
            }
            peers.assertCreditsReturn();
        }
    }

    private static void assertRefused(
            SeveralPeers peers, Class<? extends Exception> type, TransferElement... elements) {
        ElementSignals never = new ElementSignals(2);
        assertThatThrownBy(() -> peers.initiator().writeVectored(List.of(elements), DEFAULTS, never))
                .isInstanceOf(type);
        assertThatThrownBy(() -> peers.initiator().readVectored(List.of(elements), DEFAULTS, never))
                .isInstanceOf(type);
        assertThat(never.terminal().count()).isZero();
        assertThat(never.reported()).isZero();
    }

    @Test
    default void signalsAndNotificationsComeAfterABatch() {
        int bytes = 1 << 20;
        try (SeveralPeers peers = new SeveralPeers(
                transport(),
                OTHERS,
                bytes + 8,
                initiator -> initiator.pollers(2).lanes(2).windowBytes(256 << 10))) {
            MemoryRegion source = filled(peers.local(bytes), 6);
            List<TransferElement> elements = new ArrayList<>();
            List<CompletableFuture<Void>> checks = new ArrayList<>();
            for (int i = 0; i < peers.count(); i++) {
                elements.add(new TransferElement(source, 0, peers.remote(i), 0, bytes));
                MemoryRegion served = peers.served(i);
                checks.add(served.signal(bytes)
                        .awaitAtLeast(1)
                        .thenAccept(
                                seen -> BytePattern.assertSame(bytesOf(served).slice(0, bytes), bytesOf(source))));
            }
            ElementSignals signals = new ElementSignals(elements.size());
            peers.initiator().writeVectored(elements, DEFAULTS, signals);
            for (int i = 0; i < peers.count(); i++) {
                peers.connection(i)
                        .signal(new RemoteSignal(peers.remote(i), bytes).strong(), DEFAULTS, new TerminalSignal());
            }
            checks.forEach(Patience::await);
            signals.terminal().awaitSuccess();
        }
    }

    @Test
    default void batchStartsAfterAnEventAndCompletesIntoAnother() {
        int count = 100;
        try (SeveralPeers peers =
                new SeveralPeers(transport(), OTHERS, 64L * count, initiator -> initiator.pollers(2))) {
            MemoryRegion source = filled(peers.local(64L * count), 6);
            CompletableFuture<Void> event = new CompletableFuture<>();
            CompletableFuture<Void> completed = new CompletableFuture<>();
            ElementSignals signals = new ElementSignals(count);
            peers.initiator()
                    .writeVectored(
                            peers.elements(source, count, 64),
                            DEFAULTS.startAfter(StartEvent.of(event)).completeInto(CompletionEvent.of(completed)),
                            signals);
            Patience.pause(Duration.ofMillis(60));
            assertThat(signals.reported()).isZero();
            assertThat(completed).isNotDone();
            for (int i = 0; i < peers.count(); i++) {
                assertThat(peers.connection(i).window().operations()).isZero();
                BytePattern.assertAll(bytesOf(peers.served(i)), (byte) 0, "a target before the event");
            }
            event.complete(null);
            await(completed);
            signals.terminal().awaitSuccess();
            signals.assertEachElementOnce();
        }
    }
}
