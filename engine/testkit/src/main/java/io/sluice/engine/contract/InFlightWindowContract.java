package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Extent;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No more is ever in flight than the limits, everything that waits gets its turn, and the queue is bounded. */
interface InFlightWindowContract extends Contract {
    int SUBMITTERS = 16;

    /** Looks at live figures as often as it can until it is closed. */
    final class Watcher implements AutoCloseable {
        private static final int LOOKS_IN_A_ROW = 200;
        private static final long PAUSE_NANOS = 100_000;

        private final AtomicBoolean stop = new AtomicBoolean();
        private final AtomicReference<String> breach = new AtomicReference<>();
        private final Thread thread;

        Watcher(InFlightWindow window) {
            thread = Thread.ofPlatform().daemon().start(() -> {
                for (int looks = 1; !stop.get(); looks++) {
                    int operations = window.operations();
                    long bytes = window.bytes();
                    if (operations < 0
                            || operations > window.operationLimit()
                            || bytes < 0
                            || bytes > window.byteLimit()) {
                        breach.compareAndSet(null, operations + " operations, " + bytes + " bytes in flight");
                    }
                    // others have no processor to themselves
                    if (looks % LOOKS_IN_A_ROW == 0) {
                        LockSupport.parkNanos(PAUSE_NANOS);
                    }
                }
            });
        }

        @Override
        public void close() {
            stop.set(true);
            Patience.join(thread);
            assertThat(breach.get()).isNull();
        }
    }

    @Test
    default void windowOfOneOperation() {
        int each = 300;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1));
                Watcher watcher = new Watcher(pair.connection().window())) {
            Collection<TerminalSignal> signals = flood(pair, each, 64);
            TerminalSignal.awaitAllSuccess(signals);
            InFlightWindow window = pair.connection().window();
            assertThat(window.operationLimit()).isEqualTo(1);
            assertThat(window.maxOperationsSeen()).isEqualTo(1);
            assertCreditsReturn(window);
        }
    }

    /** If this side executes transfers inline, some may be done before the next is posted. */
    private void assertFilled(int most, int limit) {
        if (transport().carriesOutInTheCall()) {
            assertThat(most).isBetween(1, limit);
        } else {
            assertThat(most).isEqualTo(limit);
        }
    }

    @Test
    default void windowOfManyOperations() {
        int bytes = 16 << 10;
        try (EnginePair pair = EnginePair.open(
                        transport(), both -> both.windowOperations(1024).windowBytes(1L << 30));
                Watcher watcher = new Watcher(pair.connection().window())) {
            Collection<TerminalSignal> signals = floodUntilFull(pair, 512, bytes);
            TerminalSignal.awaitAllSuccess(signals);
            InFlightWindow window = pair.connection().window();
            assertThat(window.operationLimit()).isEqualTo(1024);
            assertFilled(window.maxOperationsSeen(), 1024);
            assertCreditsReturn(window);
        }
    }

    @Test
    default void windowOfBytes() {
        long limit = 1 << 20;
        // By the rule for chunks no chunk is larger than an eighth of the window.
        long chunk = limit / 8;
        try (EnginePair pair = EnginePair.open(
                        transport(), both -> both.windowOperations(1024).windowBytes(limit));
                Watcher watcher = new Watcher(pair.connection().window())) {
            Collection<TerminalSignal> signals = flood(pair, 2, 6 << 20);
            TerminalSignal.awaitAllSuccess(signals);
            InFlightWindow window = pair.connection().window();
            assertThat(window.byteLimit()).isEqualTo(limit);
            assertThat(window.maxBytesSeen()).isGreaterThan(limit - chunk).isLessThanOrEqualTo(limit);
            assertCreditsReturn(window);
        }
    }

    @Test
    default void smallestWindowOfBytesMovesLargeTransfers() {
        long limit = 64 << 10;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowBytes(limit))) {
            MemoryRegion source = filled(pair.local((5 << 20) + 1), 4);
            MemoryRegion served = pair.served(source.length());
            MemoryRegion back = pair.local(source.length());
            RemoteRegion remote = pair.attach(served);
            pair.write(source, 0, remote, 0, source.length()).awaitSuccess();
            pair.read(back, 0, remote, 0, source.length()).awaitSuccess();
            BytePattern.assertFilled(bytesOf(served), 4);
            BytePattern.assertFilled(bytesOf(back), 4);
            assertThat(pair.connection().window().maxBytesSeen()).isLessThanOrEqualTo(limit);
            assertCreditsReturn(pair.connection().window());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    default void creditsOfALargeTransferThatFailsComeBack(boolean write) {
        long limit = 64 << 10;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowBytes(limit))) {
            MemoryRegion local = pair.local(5 << 20);
            MemoryRegion served = pair.served(local.length());
            RemoteRegion remote = pair.attach(served);
            await(served.close());
            // each more than the window holds at once
            for (int i = 0; i < 3; i++) {
                TerminalSignal signal = write
                        ? pair.write(local, 0, remote, 0, local.length())
                        : pair.read(local, 0, remote, 0, local.length());
                signal.awaitFailure(RemoteAccessException.class);
                assertCreditsReturn(pair.connection().window());
            }
            RemoteRegion other = pair.attach(pair.served(local.length()));
            pair.write(local, 0, other, 0, local.length()).awaitSuccess();
            assertCreditsReturn(pair.connection().window());
        }
    }

    @Test
    default void elementsOfAVectoredTransferHoldACreditEach() {
        int elements = 2_000;
        int bytes = 4096;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(32));
                Watcher watcher = new Watcher(pair.connection().window())) {
            MemoryRegion local = pair.local(bytes);
            RemoteRegion remote = pair.attach(pair.served(bytes));
            ElementSignals signals = new ElementSignals(elements);
            pair.connection()
                    .writeVectored(
                            Collections.nCopies(elements, new TransferElement(local, 0, remote, 0, bytes)),
                            TransferOptions.defaults(),
                            signals);
            signals.terminal().awaitSuccess();
            signals.assertEachElementOnce();
            assertThat(pair.connection().window().maxOperationsSeen()).isBetween(2, 32);
            assertCreditsReturn(pair.connection().window());
        }
    }

    @Test
    default void engineWindowHoldsOverAllConnections() {
        int bytes = 64 << 10;
        int each = 40;
        try (EnginePair pair = EnginePair.open(
                        transport(), both -> both.engineWindowOperations(8).windowOperations(64));
                Watcher watcher = new Watcher(pair.initiator().metrics().window())) {
            Collection<TerminalSignal> signals = floodSeveralConnections(pair, each, bytes);
            TerminalSignal.awaitAllSuccess(signals);
            InFlightWindow window = pair.initiator().metrics().window();
            assertThat(window.operationLimit()).isEqualTo(8);
            assertFilled(window.maxOperationsSeen(), 8);
            assertCreditsReturn(window);
        }
    }

    @Test
    default void engineWindowOfBytesHoldsOverAllConnections() {
        long limit = 512 << 10;
        long largestChunk = (1 << 20) / 8;
        try (EnginePair pair = EnginePair.open(
                        transport(), both -> both.engineWindowBytes(limit).windowBytes(1 << 20));
                Watcher watcher = new Watcher(pair.initiator().metrics().window())) {
            Collection<TerminalSignal> signals = floodSeveralConnections(pair, 2, 2 << 20);
            TerminalSignal.awaitAllSuccess(signals);
            InFlightWindow window = pair.initiator().metrics().window();
            assertThat(window.maxBytesSeen())
                    .isGreaterThan(limit - largestChunk)
                    .isLessThanOrEqualTo(limit);
            assertCreditsReturn(window);
        }
    }

    /** The target serves none before the window is full, where it takes the target to serve them. */
    private Collection<TerminalSignal> floodUntilFull(EnginePair pair, int each, int bytes) {
        MemoryRegion local = pair.local(bytes);
        RemoteRegion remote = pair.attach(pair.served(bytes));
        if (!transport().needsTargetToRun()) {
            return flood(pair, each, local, remote);
        }
        InFlightWindow window = pair.connection().window();
        try (Blockade blockade = Blockade.ofTarget(pair)) {
            Collection<TerminalSignal> signals = flood(pair, each, local, remote);
            until("the window is full", () -> window.operations() == window.operationLimit());
            return signals;
        }
    }

    private static Collection<TerminalSignal> flood(EnginePair pair, int each, int bytes) {
        return flood(pair, each, pair.local(bytes), pair.attach(pair.served(bytes)));
    }

    /** Many threads, half of the transfers writes, half reads. */
    private static Collection<TerminalSignal> flood(
            EnginePair pair, int each, MemoryRegion local, RemoteRegion remote) {
        long bytes = local.length();
        Collection<TerminalSignal> signals = new ConcurrentLinkedQueue<>();
        ManyThreads.run(SUBMITTERS, number -> {
            for (int i = 0; i < each; i++) {
                signals.add(
                        i % 2 == 0 ? pair.write(local, 0, remote, 0, bytes) : pair.read(local, 0, remote, 0, bytes));
            }
        });
        assertThat(signals).hasSize(SUBMITTERS * each);
        return signals;
    }

    private static Collection<TerminalSignal> floodSeveralConnections(EnginePair pair, int each, int bytes) {
        MemoryRegion local = pair.local(bytes);
        MemoryRegion served = pair.served(bytes);
        List<RemoteRegion> remotes = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Connection connection = await(pair.initiator().connect(pair.target().address()));
            remotes.add(await(connection.attach(served.descriptor())));
        }
        Collection<TerminalSignal> signals = new ConcurrentLinkedQueue<>();
        ManyThreads.run(SUBMITTERS, number -> {
            RemoteRegion remote = remotes.get(number % remotes.size());
            for (int i = 0; i < each; i++) {
                TerminalSignal signal = new TerminalSignal();
                remote.connection().write(local, 0, remote, 0, bytes, TransferOptions.defaults(), signal);
                signals.add(signal);
            }
        });
        return signals;
    }

    private static void assertCreditsReturn(InFlightWindow window) {
        until("the credits are back", () -> window.operations() == 0 && window.bytes() == 0);
    }

    @Test
    default void waitersAreServedInTheirOrder() {
        int count = 2_000;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1))) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            List<Integer> ends = Collections.synchronizedList(new ArrayList<>());
            for (int i = 0; i < count; i++) {
                int number = i;
                pair.connection()
                        .write(
                                local,
                                0,
                                remote,
                                0,
                                64,
                                TransferOptions.defaults(),
                                (transfer, error) -> ends.add(error == null ? number : -1));
            }
            until("all ended", () -> ends.size() == count);
            for (int i = 0; i < count; i++) {
                assertThat(ends.get(i)).isEqualTo(i);
            }
        }
    }

    @Test
    default void smallTransfersPassWhileALargeOneRuns() {
        // Not that they overtake it, only that it cannot starve them, nor they it.
        int large = Extent.of(24 << 20, 64 << 20);
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowBytes(1 << 20))) {
            MemoryRegion local = pair.local(large);
            RemoteRegion remote = pair.attach(pair.served(large));
            List<TerminalSignal> signals = new ArrayList<>();
            signals.add(pair.write(local, 0, remote, 0, large));
            for (int i = 0; i < 2_000; i++) {
                signals.add(pair.write(local, 0, remote, 0, 8));
                if (i % 500 == 0) {
                    signals.add(pair.read(local, 0, remote, 0, large / 8));
                }
            }
            TerminalSignal.awaitAllSuccess(signals);
        }
    }

    @Test
    default void tooManyPendingIsATypedErrorAndLosesNothing() {
        int limit = 64;
        // more than a calling thread executes inline, on every transport
        int bytes = 256 << 10;
        try (EnginePair pair = EnginePair.open(transport(), initiator -> initiator.maxPending(limit), target -> {})) {
            MemoryRegion local = pair.local(bytes);
            RemoteRegion remote = pair.attach(pair.served(bytes));
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            // While this callback blocks the poller, nothing ends.
            pair.connection().fetchAdd(remote, 0, 1, TransferOptions.defaults(), (transfer, previous, error) -> {
                held.countDown();
                await(release);
            });
            List<TerminalSignal> signals = new ArrayList<>();
            TerminalSignal refused = new TerminalSignal();
            try {
                await(held);
                assertThatThrownBy(() -> {
                            for (int i = 0; i <= limit; i++) {
                                TerminalSignal signal = new TerminalSignal();
                                pair.connection().write(local, 0, remote, 0, bytes, TransferOptions.defaults(), signal);
                                signals.add(signal);
                            }
                        })
                        .isInstanceOf(TooManyPendingException.class);
                assertThatThrownBy(() ->
                                pair.connection().read(local, 0, remote, 0, bytes, TransferOptions.defaults(), refused))
                        .isInstanceOf(TooManyPendingException.class);
                assertThatThrownBy(() -> pair.connection().notify(new byte[1], TransferOptions.defaults(), refused))
                        .isInstanceOf(TooManyPendingException.class);
                // The one whose callback is running may count or not.
                assertThat(signals).hasSizeBetween(limit - 1, limit);
                assertThat(pair.connection().pending()).isBetween(limit - 1, limit);
            } finally {
                release.countDown();
            }
            TerminalSignal.awaitAllSuccess(signals);
            until("nothing is pending", () -> pair.connection().pending() == 0);
            assertThat(refused.count()).isZero();
            pair.write(local, 0, remote, 0, bytes).awaitSuccess();
        }
    }

    @Test
    default void cancelledWaitersMakeRoom() {
        int limit = 64;
        try (EnginePair pair = EnginePair.open(
                transport(), initiator -> initiator.maxPending(limit).windowOperations(1), target -> {})) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            for (int round = 0; round < 20; round++) {
                List<TerminalSignal> signals = new ArrayList<>();
                List<Transfer> transfers = new ArrayList<>();
                for (int i = 0; i < limit; i++) {
                    TerminalSignal signal = new TerminalSignal();
                    signals.add(signal);
                    transfers.add(pair.connection().write(local, 0, remote, 0, 64, TransferOptions.defaults(), signal));
                }
                transfers.forEach(Transfer::cancel);
                TerminalSignal.awaitAll(signals);
                until("nothing is pending", () -> pair.connection().pending() == 0);
            }
            assertCreditsReturn(pair.connection().window());
        }
    }
}
