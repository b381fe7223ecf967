package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Extent;
import io.sluice.testkit.Patience;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A notification comes after all earlier writes of its connection are visible. */
interface OrderContract extends Contract {
    /** The places of a round's number; the last one is the last word of a large write. */
    int PLACES = 4;

    int SMALL_BYTES = 64;
    int LARGE_BYTES = 96 << 10;
    int ROUND_BYTES = (PLACES - 1) * SMALL_BYTES + LARGE_BYTES;

    /** Looks at the target's memory at the very moment of the notification. */
    final class Inspector implements NotificationListener {
        private final ContractBytes served;
        private final int slots;
        private final int rounds;
        private final Semaphore free;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private int seen;

        Inspector(ContractBytes served, int slots, int rounds, Semaphore free) {
            this.served = served;
            this.slots = slots;
            this.rounds = rounds;
            this.free = free;
        }

        @Override
        public void notification(byte[] payload) {
            int round = ByteBuffer.wrap(payload).getInt();
            long base = (long) (round % slots) * ROUND_BYTES;
            for (int place = 0; place < PLACES; place++) {
                long first = base + (long) place * SMALL_BYTES;
                long last = first + (place < PLACES - 1 ? SMALL_BYTES : LARGE_BYTES) - 4;
                check(round, place, first);
                check(round, place, last);
            }
            free.release();
            seen++;
            if (seen == rounds) {
                done.complete(null);
            }
        }

        private void check(int round, int place, long at) {
            int found = served.intAt(at);
            if (found != round) {
                done.completeExceptionally(new AssertionError(
                        "notification %d came while place %d held %d at %d".formatted(round, place, found, at)));
            }
        }

        @Override
        public void ended(@Nullable SluiceException error) {
            done.completeExceptionally(new AssertionError("the connection ended", error));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    default void notificationComesAfterAllEarlierWrites(int lanes) throws InterruptedException {
        int rounds = ContractProfile.of(transport()).orderRounds();
        int slots = 8;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(lanes))) {
            MemoryRegion source = pair.local((long) slots * ROUND_BYTES);
            MemoryRegion served = pair.served(source.length());
            RemoteRegion remote = pair.attach(served);
            Semaphore free = new Semaphore(slots);
            Inspector inspector = new Inspector(bytesOf(served), slots, rounds, free);
            pair.accepted().subscribe(inspector).request(Long.MAX_VALUE);
            for (int round = 0; round < rounds && !inspector.done.isDone(); round++) {
                assertThat(free.tryAcquire(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                        .as("a free slot")
                        .isTrue();
                long base = (long) (round % slots) * ROUND_BYTES;
                BytePattern.repeat(bytesOf(source).slice(base, ROUND_BYTES), round);
                // The large one first: with several lanes the small ones overtake it, and a notification could.
                long large = base + (long) (PLACES - 1) * SMALL_BYTES;
                pair.write(source, large, remote, large, LARGE_BYTES);
                for (int place = 0; place < PLACES - 1; place++) {
                    long at = base + (long) place * SMALL_BYTES;
                    pair.write(source, at, remote, at, SMALL_BYTES);
                }
                pair.notify(ByteBuffer.allocate(4).putInt(round).array());
            }
            await(inspector.done);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    @Tag(DRIVER)
    default void notificationWaitsForWritesThatWaitForCredits(int lanes) {
        int piece = Extent.of(2 << 20, 4 << 20);
        long bytes = 8L * piece;
        try (EnginePair pair = EnginePair.open(
                transport(), both -> both.lanes(lanes).windowBytes(1 << 20).windowOperations(2))) {
            MemoryRegion source = filled(pair.local(bytes), 12);
            MemoryRegion served = pair.served(bytes);
            RemoteRegion remote = pair.attach(served);
            CompletableFuture<Void> checked = new CompletableFuture<>();
            pair.accepted()
                    .subscribe(new RecordingListener(payload -> {
                        if (bytesOf(served).mismatch(bytesOf(source)) == -1) {
                            checked.complete(null);
                        } else {
                            checked.completeExceptionally(new AssertionError("the notification came too early"));
                        }
                    }))
                    .request(1);
            List<TerminalSignal> signals = new ArrayList<>();
            for (long at = 0; at < bytes; at += piece) {
                signals.add(pair.write(source, at, remote, at, piece));
            }
            TerminalSignal notified = pair.notify(new byte[] {1});
            await(checked);
            TerminalSignal.awaitAllSuccess(signals);
            notified.awaitSuccess();
        }
    }

    @Test
    default void notificationDoesNotWaitForAWriteThatWasCancelled() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1))) {
            MemoryRegion source = pair.local(16 << 20);
            RemoteRegion remote = pair.attach(pair.served(16 << 20));
            RecordingListener listener = new RecordingListener();
            pair.accepted().subscribe(listener).request(Long.MAX_VALUE);
            for (int round = 0; round < 50; round++) {
                TerminalSignal signal = new TerminalSignal();
                pair.connection()
                        .write(source, 0, remote, 0, 16 << 20, TransferOptions.defaults(), signal)
                        .cancel();
                TerminalSignal notified = pair.notify(new byte[0]);
                TerminalSignal.awaitAll(List.of(signal, notified));
                notified.awaitSuccess();
            }
            Patience.until("all came", () -> listener.count() == 50);
        }
    }
}
