package io.sluice.cuda;

import io.sluice.engine.PageCallback;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** So many transfers at a time, each started again by its own callback, for a time. */
final class RepeatedTransfers {
    static final TransferOptions OPTIONS = TransferOptions.defaults();
    private static final int MOST_SAMPLES = 1 << 20;
    private static final int PATIENCE_SECONDS = 20;

    private final Slot[] slots;
    private final long[] samples = new long[MOST_SAMPLES];
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    // of the poller, once begun
    private long warmUntil;
    private long duration;
    private long from;
    private long last;
    private long operations;
    private int outstanding;

    /** Prepares the transfer of a slot, or gives null and starts it by {@link Slot#starter}. */
    @FunctionalInterface
    interface Form {
        @Nullable
        PreparedTransfer prepare(int slot, Slot end);
    }

    static Form unprepared(Consumer<Slot> start) {
        return (slot, end) -> {
            end.starter = () -> start.accept(end);
            return null;
        };
    }

    record Result(long operations, long nanos, long[] sorted) {
        double perSecond() {
            return operations * 1e9 / nanos;
        }

        double micros(double part) {
            return sorted.length == 0 ? 0 : sorted[(int) (part * (sorted.length - 1))] / 1e3;
        }
    }

    RepeatedTransfers(Form form, int inflight) {
        slots = new Slot[inflight];
        for (int i = 0; i < inflight; i++) {
            Slot slot = new Slot();
            PreparedTransfer prepared = form.prepare(i, slot);
            if (prepared != null) {
                slot.starter = prepared::start;
            }
            slots[i] = slot;
        }
    }

    /** Times in nanoseconds. */
    Result run(long warmup, long measured) throws Exception {
        outstanding = slots.length;
        duration = measured;
        warmUntil = System.nanoTime() + warmup;
        for (Slot each : slots) {
            each.begin();
        }
        ended.get(PATIENCE_SECONDS + TimeUnit.NANOSECONDS.toSeconds(warmup + measured), TimeUnit.SECONDS);
        long[] sorted = Arrays.copyOf(samples, (int) Math.min(operations, MOST_SAMPLES));
        Arrays.sort(sorted);
        return new Result(operations, Math.max(1, last - from), sorted);
    }

    final class Slot implements TransferCallback, PageCallback {
        private Runnable starter = () -> {};
        private long began;

        private void begin() {
            began = System.nanoTime();
            starter.run();
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            end(error);
        }

        @Override
        public void terminated(Transfer transfer, BitSet failed, @Nullable SluiceException error) {
            end(error);
        }

        private void end(@Nullable SluiceException error) {
            long now = System.nanoTime();
            if (error != null) {
                ended.completeExceptionally(error);
                return;
            }
            if (from == 0) {
                if (now >= warmUntil) {
                    from = now;
                }
            } else if (now - from <= duration || operations == 0) {
                if (operations < MOST_SAMPLES) {
                    samples[(int) operations] = now - began;
                }
                operations++;
                last = now;
            }
            if (from == 0 || now - from < duration) {
                try {
                    begin();
                } catch (RuntimeException e) {
                    ended.completeExceptionally(e);
                }
            } else if (--outstanding == 0) {
                ended.complete(null);
            }
        }
    }
}
