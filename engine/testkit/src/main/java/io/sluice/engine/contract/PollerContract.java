package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PollerMetrics;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The effects of callbacks on a poller, and their limits. */
interface PollerContract extends Contract {
    /** Each write starts the next from its callback. */
    final class Chain implements TransferCallback {
        private final Connection connection;
        private final MemoryRegion local;
        private final RemoteRegion remote;
        private final boolean reads;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private volatile long deepest;
        private volatile int left;

        Chain(Connection connection, MemoryRegion local, RemoteRegion remote, int links, boolean reads) {
            this.connection = connection;
            this.local = local;
            this.remote = remote;
            this.reads = reads;
            this.left = links;
        }

        Chain begin() {
            next();
            return this;
        }

        private void next() {
            if (reads) {
                connection.read(local, 0, remote, 0, 8, TransferOptions.defaults(), this);
            } else {
                connection.write(local, 0, remote, 0, 8, TransferOptions.defaults(), this);
            }
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            if (error != null) {
                done.completeExceptionally(error);
                return;
            }
            int after = left - 1;
            if (after % 512 == 0) {
                deepest = Math.max(deepest, StackWalker.getInstance().walk(Stream::count));
            }
            left = after;
            if (after == 0) {
                done.complete(null);
                return;
            }
            try {
                next();
            } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
            }
        }

        void awaitEnd() {
            Patience.awaitSteps("the chain", done, () -> left);
            assertThat(deepest).as("frames on the stack").isBetween(1L, 150L);
        }
    }

    @Test
    default void chainOfWritesToItselfDoesNotDeepenTheStack() {
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            Connection connection = await(engine.connect(engine.address()));
            MemoryRegion local = allocate(engine, 8, RegionOptions.local());
            RemoteRegion remote = await(connection.attach(
                    allocate(engine, 8, RegionOptions.readWrite()).descriptor()));
            ContractProfile profile = ContractProfile.of(transport());
            int links = transport().isVariant() ? profile.chainedWritesToPeer() : profile.chainedWritesToSelf();
            new Chain(connection, local, remote, links, false).begin().awaitEnd();
        }
    }

    @Test
    default void chainsOfWritesAndReadsToAPeerDoNotDeepenTheStack() {
        int links = ContractProfile.of(transport()).chainedWritesToPeer();
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(8);
            RemoteRegion remote = pair.attach(pair.served(8));
            Chain writes = new Chain(pair.connection(), local, remote, links, false).begin();
            Chain reads = new Chain(pair.connection(), local, remote, links, true).begin();
            writes.awaitEnd();
            reads.awaitEnd();
        }
    }

    @Test
    default void chainOfTransfersWithoutBytesDoesNotDeepenTheStack() {
        int links = ContractProfile.of(transport()).chainedWritesToPeer();
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(8);
            RemoteRegion remote = pair.attach(pair.served(8));
            CompletableFuture<Void> done = new CompletableFuture<>();
            AtomicInteger left = new AtomicInteger(links);
            TransferCallback again = new TransferCallback() {
                @Override
                public void terminated(Transfer transfer, @Nullable SluiceException error) {
                    if (error != null) {
                        done.completeExceptionally(error);
                    } else if (left.decrementAndGet() == 0) {
                        done.complete(null);
                    } else {
                        pair.connection().write(local, 0, remote, 0, 0, TransferOptions.defaults(), this);
                    }
                }
            };
            pair.connection().write(local, 0, remote, 0, 0, TransferOptions.defaults(), again);
            Patience.awaitSteps("the chain", done, left::get);
        }
    }

    @Test
    default void chainOfFailuresDoesNotDeepenTheStack() {
        // A transfer that fails before it is posted is the easiest way to recurse.
        int links = ContractProfile.of(transport()).chainedWritesToPeer();
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(8);
            RemoteRegion remote = pair.attach(pair.served(8));
            await(local.close());
            CompletableFuture<Void> done = new CompletableFuture<>();
            AtomicInteger left = new AtomicInteger(links);
            TransferCallback again = new TransferCallback() {
                @Override
                public void terminated(Transfer transfer, @Nullable SluiceException error) {
                    if (error == null) {
                        done.completeExceptionally(new AssertionError("a write from a closed region succeeded"));
                    } else if (left.decrementAndGet() == 0) {
                        done.complete(null);
                    } else {
                        pair.connection().write(local, 0, remote, 0, 8, TransferOptions.defaults(), this);
                    }
                }
            };
            pair.connection().write(local, 0, remote, 0, 8, TransferOptions.defaults(), again);
            Patience.awaitSteps("the chain", done, left::get);
        }
    }

    @Test
    default void callbackThatThrowsHarmsNoOtherTransfer() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            List<TerminalSignal> signals = new ArrayList<>();
            AtomicInteger thrown = new AtomicInteger();
            for (int i = 0; i < 300; i++) {
                int number = i;
                if (number % 3 == 0) {
                    pair.connection().write(local, 0, remote, 0, 64, TransferOptions.defaults(), (transfer, error) -> {
                        thrown.incrementAndGet();
                        throwSomething(number);
                    });
                } else {
                    signals.add(number % 3 == 1 ? pair.write(local, 0, remote, 0, 64) : pair.notify(new byte[0]));
                }
            }
            // There is no listener, so the notifications must fit into the credits.
            TerminalSignal.awaitAllSuccess(signals);
            until("each was called", () -> thrown.get() == 100);
            pair.write(local, 0, remote, 0, 64).awaitSuccess();
            until("the credits are back", () -> pair.connection().window().operations() == 0);
        }
    }

    private static void throwSomething(int number) {
        switch (number % 4) {
            case 0 -> throw new IllegalStateException("thrown on purpose");
            case 1 -> throw new AssertionError("thrown on purpose");
            case 2 -> throw new StackOverflowError("thrown on purpose");
            default -> throw new OutOfMemoryError("thrown on purpose");
        }
    }

    @Test
    default void elementCallbackThatThrowsStillGetsItsEnd() {
        int elements = 500;
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            ElementSignals signals = new ElementSignals(elements) {
                @Override
                public void element(int index, @Nullable SluiceException error) {
                    super.element(index, error);
                    throw new IllegalStateException("thrown on purpose");
                }
            };
            pair.connection()
                    .writeVectored(
                            Collections.nCopies(elements, new TransferElement(local, 0, remote, 0, 64)),
                            TransferOptions.defaults(),
                            signals);
            signals.terminal().awaitSuccess();
            signals.assertEachElementOnce();
            pair.write(local, 0, remote, 0, 64).awaitSuccess();
        }
    }

    @Test
    default void notificationListenerThatThrowsStillGetsTheNext() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RecordingListener listener = new RecordingListener(payload -> {
                throw new IllegalStateException("thrown on purpose");
            });
            pair.accepted().subscribe(listener).request(Long.MAX_VALUE);
            for (int i = 0; i < 20; i++) {
                pair.notify(new byte[] {(byte) i}).awaitSuccess();
            }
            until("all came", () -> listener.count() == 20);
        }
    }

    @Test
    default void futureDependentsThatThrowHarmNoOtherTransfer() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            pair.connection().attach(served.descriptor()).thenAccept(remote -> {
                throw new IllegalStateException("thrown on purpose");
            });
            pair.write(pair.local(64), 0, pair.attach(served), 0, 64).awaitSuccess();
        }
    }

    @Test
    default void callbackThatBlocksIsReported() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.stallThreshold(Duration.ofMillis(50)))) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            long before = EngineSums.ofPollers(pair.initiator(), PollerMetrics::stalls);
            // an atomic operation ends on the poller, on every transport
            pair.connection()
                    .fetchAdd(
                            remote,
                            0,
                            1,
                            TransferOptions.defaults(),
                            (transfer, previous, error) -> Patience.pause(Duration.ofMillis(150)));
            until("the stall is counted", () -> EngineSums.ofPollers(pair.initiator(), PollerMetrics::stalls) > before);
            pair.write(local, 0, remote, 0, 64).awaitSuccess();
        }
    }

    @Test
    default void callbackMayStartManyTransfers() {
        int count = 5_000;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(16))) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            List<TerminalSignal> signals = Collections.synchronizedList(new ArrayList<>());
            pair.connection().write(local, 0, remote, 0, 64, TransferOptions.defaults(), (transfer, error) -> {
                for (int i = 0; i < count; i++) {
                    signals.add(pair.write(local, 0, remote, 0, 64));
                }
            });
            until("all were started", () -> signals.size() == count);
            TerminalSignal.awaitAllSuccess(signals);
        }
    }

    @Test
    default void severalPollersServeSeveralConnections() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.pollers(3))) {
            assertThat(pair.initiator().metrics().pollers()).hasSize(3);
            MemoryRegion local = filled(pair.local(1 << 20), 2);
            List<TerminalSignal> signals = new ArrayList<>();
            List<MemoryRegion> served = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                Connection connection =
                        await(pair.initiator().connect(pair.target().address()));
                served.add(pair.served(1 << 20));
                RemoteRegion remote = await(connection.attach(served.getLast().descriptor()));
                for (int j = 0; j < 16; j++) {
                    TerminalSignal signal = new TerminalSignal();
                    connection.write(local, j << 16, remote, j << 16, 1 << 16, TransferOptions.defaults(), signal);
                    signals.add(signal);
                }
            }
            TerminalSignal.awaitAllSuccess(signals);
            served.forEach(region -> BytePattern.assertFilled(bytesOf(region), 2));
        }
    }

    @Test
    default void callbackMayCloseItsConnectionAndItsRegion() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            CompletableFuture<Void> regionClosed = new CompletableFuture<>();
            CompletableFuture<Void> connectionClosed = new CompletableFuture<>();
            pair.connection().write(local, 0, remote, 0, 64, TransferOptions.defaults(), (transfer, error) -> {
                local.close().thenAccept(regionClosed::complete);
                pair.connection().close().thenAccept(connectionClosed::complete);
            });
            await(regionClosed);
            await(connectionClosed);
        }
    }

    @Test
    default void idleEngineRests() {
        try (EnginePair pair = EnginePair.open(transport())) {
            pair.write(pair.local(64), 0, pair.attach(pair.served(64)), 0, 64).awaitSuccess();
            Patience.pause(Duration.ofMillis(100));
            long before = EngineSums.ofPollers(pair.initiator(), PollerMetrics::emptyPolls);
            Patience.pause(Duration.ofMillis(300));
            // One that spins makes hundreds of thousands; one that parks wakes for heartbeats and timers.
            assertThat(EngineSums.ofPollers(pair.initiator(), PollerMetrics::emptyPolls) - before)
                    .isLessThan(6_000);
        }
    }
}
