package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferPriority;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Which of the waiting transfers goes first; and all of them go. */
interface PriorityContract extends Contract {
    Duration NEVER = Duration.ofHours(1);

    /** One of the transfers that wait, by its priority and its place among all that were submitted. */
    record Waiter(TransferPriority priority, int number) {}

    /** Submits transfers that wait, and records in which order they end: with a window of one that is how they go. */
    final class Queue {
        private final EnginePair pair;
        private final MemoryRegion local;
        private final RemoteRegion remote;
        private final List<Waiter> submitted = new ArrayList<>();
        private final List<Waiter> ended = Collections.synchronizedList(new ArrayList<>());
        private final List<SluiceException> errors = Collections.synchronizedList(new ArrayList<>());

        Queue(EnginePair pair) {
            this.pair = pair;
            local = pair.local(TransferKind.BYTES);
            remote = pair.attach(pair.served(TransferKind.BYTES));
        }

        Transfer submit(TransferKind kind, TransferPriority priority) {
            Waiter waiter = new Waiter(priority, submitted.size());
            submitted.add(waiter);
            return kind.on(
                    pair.connection(),
                    local,
                    remote,
                    TransferOptions.defaults().withPriority(priority),
                    (transfer, error) -> {
                        if (error != null) {
                            errors.add(error);
                        }
                        ended.add(waiter);
                    });
        }

        Transfer submit(TransferPriority priority) {
            return submit(TransferKind.WRITE, priority);
        }

        List<Waiter> submitted() {
            return submitted;
        }

        /** Waits for all of them; the order in which they went. */
        List<Waiter> awaitOrder() {
            until("all ended", () -> ended.size() == submitted.size());
            assertThat(errors).isEmpty();
            return List.copyOf(ended);
        }
    }

    @Test
    default void urgentOnesGoFirstAndEqualsInTheirOrder() {
        Random random = ContractProfile.random("urgentOnesGoFirstAndEqualsInTheirOrder");
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(1).priorityAging(NEVER))) {
            Queue queue = new Queue(pair);
            TransferPriority[] priorities = TransferPriority.values();
            try (TakenWindow taken = new TakenWindow(pair)) {
                for (int i = 0; i < 150; i++) {
                    queue.submit(priorities[random.nextInt(priorities.length)]);
                }
                taken.settle();
            }
            List<Waiter> expected = new ArrayList<>(queue.submitted());
            expected.sort(Comparator.comparing(Waiter::priority));
            assertThat(queue.awaitOrder()).containsExactlyElementsOf(expected);
        }
    }

    @ParameterizedTest
    @ArgumentsSource(KindsInTurn.class)
    default void everyKindHasItsPriority(TransferKind kind) {
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(1).priorityAging(NEVER))) {
            Queue queue = new Queue(pair);
            try (TakenWindow taken = new TakenWindow(pair)) {
                queue.submit(TransferKind.WRITE, TransferPriority.NORMAL);
                queue.submit(kind, TransferPriority.LOW);
                queue.submit(TransferKind.READ, TransferPriority.NORMAL);
                queue.submit(kind, TransferPriority.HIGH);
                queue.submit(TransferKind.PUT, TransferPriority.HIGH);
                queue.submit(kind, TransferPriority.NORMAL);
                taken.settle();
            }
            assertThat(queue.awaitOrder().stream().map(Waiter::number)).containsExactly(3, 4, 0, 2, 5, 1);
        }
    }

    @Test
    default void defaultIsNormal() {
        assertThat(TransferOptions.defaults().priority()).isEqualTo(TransferPriority.NORMAL);
    }

    @Test
    default void oldOnesTakeTurnsWithMoreUrgentOnesThatCameLater() {
        Duration aging = Duration.ofMillis(20);
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(1).priorityAging(aging))) {
            Queue queue = new Queue(pair);
            try (TakenWindow taken = new TakenWindow(pair)) {
                queue.submit(TransferPriority.LOW);
                Patience.pause(aging.multipliedBy(2));
                queue.submit(TransferPriority.NORMAL);
                Patience.pause(aging.multipliedBy(2));
                queue.submit(TransferPriority.HIGH);
                queue.submit(TransferPriority.HIGH);
                taken.settle();
            }
            assertThat(queue.awaitOrder().stream().map(Waiter::number)).containsExactly(0, 2, 1, 3);
        }
    }

    @Test
    default void youngOnesDoNotGoBeforeMoreUrgentOnes() {
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(1).priorityAging(Patience.BOUND))) {
            Queue queue = new Queue(pair);
            try (TakenWindow taken = new TakenWindow(pair)) {
                queue.submit(TransferPriority.LOW);
                Patience.pause(Duration.ofMillis(50));
                queue.submit(TransferPriority.NORMAL);
                Patience.pause(Duration.ofMillis(50));
                queue.submit(TransferPriority.HIGH);
                taken.settle();
            }
            assertThat(queue.awaitOrder().stream().map(Waiter::number)).containsExactly(2, 1, 0);
        }
    }

    @Test
    default void agingOfZeroIsFirstInFirstOut() {
        Random random = ContractProfile.random("agingOfZeroIsFirstInFirstOut");
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(1).priorityAging(Duration.ZERO))) {
            Queue queue = new Queue(pair);
            TransferPriority[] priorities = TransferPriority.values();
            try (TakenWindow taken = new TakenWindow(pair)) {
                for (int i = 0; i < 150; i++) {
                    queue.submit(priorities[random.nextInt(priorities.length)]);
                }
                taken.settle();
            }
            assertThat(queue.awaitOrder()).containsExactlyElementsOf(queue.submitted());
        }
    }

    @Test
    default void cancelledWaitersLeaveTheOrderAsItIs() {
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(1).priorityAging(NEVER))) {
            Queue queue = new Queue(pair);
            List<Transfer> cancelled = new ArrayList<>();
            List<TerminalSignal> ends = new ArrayList<>();
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            try (TakenWindow taken = new TakenWindow(pair)) {
                for (int i = 0; i < 60; i++) {
                    TransferPriority priority = TransferPriority.values()[i % 3];
                    queue.submit(priority);
                    TerminalSignal signal = new TerminalSignal();
                    ends.add(signal);
                    cancelled.add(pair.connection()
                            .write(
                                    local,
                                    0,
                                    remote,
                                    0,
                                    64,
                                    TransferOptions.defaults().withPriority(priority),
                                    signal));
                }
                cancelled.forEach(Transfer::cancel);
                taken.settle();
                assertThat(TerminalSignal.awaitAllOnce(ends)).hasSize(60);
            }
            List<Waiter> expected = new ArrayList<>(queue.submitted());
            expected.sort(Comparator.comparing(Waiter::priority));
            assertThat(queue.awaitOrder()).containsExactlyElementsOf(expected);
            until("the credits are back", () -> pair.connection().window().operations() == 0);
        }
    }

    /** A few urgent writes at a time, one after the other without end, so that one of them always waits. */
    final class Stream implements TransferCallback, AutoCloseable {
        private static final int AT_A_TIME = 6;

        private final EnginePair pair;
        private final MemoryRegion local;
        private final RemoteRegion remote;
        private final TransferOptions urgent = TransferOptions.defaults().withPriority(TransferPriority.HIGH);
        private final AtomicInteger running = new AtomicInteger(AT_A_TIME);
        private final AtomicInteger ended = new AtomicInteger();
        private volatile boolean stopped;

        Stream(EnginePair pair) {
            this.pair = pair;
            local = pair.local(64);
            remote = pair.attach(pair.served(64));
            for (int i = 0; i < AT_A_TIME; i++) {
                next();
            }
        }

        private void next() {
            pair.connection().write(local, 0, remote, 0, 64, urgent, this);
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            ended.incrementAndGet();
            if (stopped || error != null) {
                running.decrementAndGet();
            } else {
                next();
            }
        }

        int ended() {
            return ended.get();
        }

        @Override
        public void close() {
            stopped = true;
            until("the stream has ended", () -> running.get() == 0);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LOW", "NORMAL"})
    default void streamOfUrgentOnesStarvesNoOther(TransferPriority priority) {
        try (EnginePair pair = EnginePair.open(
                transport(),
                both -> both.windowOperations(1).windowBytes(256 << 10).priorityAging(Duration.ofMillis(20)))) {
            MemoryRegion source = filled(pair.local(2 << 20), 3);
            MemoryRegion served = pair.served(source.length());
            RemoteRegion remote = pair.attach(served);
            TransferOptions options = TransferOptions.defaults().withPriority(priority);
            try (Stream stream = new Stream(pair)) {
                until("it streams", () -> stream.ended() > 100);
                List<TerminalSignal> signals = new ArrayList<>();
                for (int i = 0; i < 5; i++) {
                    signals.add(pair.write(source, 0, remote, 0, source.length(), options));
                    signals.add(pair.put(remote, 0, BytePattern.at(3, 0), 1, options));
                }
                TerminalSignal.awaitAllSuccess(signals);
                int before = stream.ended();
                until("it still streams", () -> stream.ended() > before + 100);
            }
            BytePattern.assertFilled(bytesOf(served), 3);
        }
    }

    @Test
    default void largeAndSmallOfAllPrioritiesShareASmallWindow() {
        int count = 300;
        Random random = ContractProfile.random("largeAndSmallOfAllPrioritiesShareASmallWindow");
        int slot = 512 << 10;
        try (EnginePair pair = EnginePair.open(
                transport(), both -> both.lanes(2).windowOperations(1).windowBytes(64 << 10))) {
            MemoryRegion source = filled(pair.local(slot), 3);
            MemoryRegion served = pair.served((long) count * slot);
            RemoteRegion remote = pair.attach(served);
            List<TerminalSignal> signals = new ArrayList<>();
            int[] lengths = new int[count];
            TransferPriority[] priorities = TransferPriority.values();
            for (int i = 0; i < count; i++) {
                lengths[i] = random.nextInt(8) == 0 ? random.nextInt(slot + 1) : random.nextInt(5_000);
                signals.add(pair.write(
                        source,
                        0,
                        remote,
                        (long) i * slot,
                        lengths[i],
                        TransferOptions.defaults().withPriority(priorities[random.nextInt(priorities.length)])));
            }
            TerminalSignal.awaitAllSuccess(signals);
            for (int i = 0; i < count; i++) {
                BytePattern.assertSame(
                        bytesOf(served).slice((long) i * slot, lengths[i]),
                        bytesOf(source).slice(0, lengths[i]));
            }
            assertThat(pair.connection().window().maxOperationsSeen()).isEqualTo(1);
            assertThat(pair.connection().window().maxBytesSeen()).isLessThanOrEqualTo(64 << 10);
        }
    }

    @Test
    default void prioritiesUnderTheEnginesWindow() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.engineWindowOperations(1))) {
            MemoryRegion source = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < 3_000; i++) {
                signals.add(pair.write(
                        source,
                        0,
                        remote,
                        0,
                        64,
                        TransferOptions.defaults().withPriority(TransferPriority.values()[i % 3])));
            }
            TerminalSignal.awaitAllSuccess(signals);
            assertThat(pair.initiator().metrics().window().maxOperationsSeen()).isEqualTo(1);
        }
    }
}
