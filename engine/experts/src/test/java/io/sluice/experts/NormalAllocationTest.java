package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Once it is warm, the loop allocates nothing for dispatches and combines of normal mode. */
class NormalAllocationTest {
    // so short that what the loop does on its own does not fall into every one
    private static final int WINDOW = 25;
    private static final int WINDOWS = 120;
    // the smallest object a round would be more, and the measurement itself takes less
    private static final long MOST_BYTES = 64;

    /** A rank that dispatches, dispatches again and combines: each call comes from the callback of the one before. */
    private static final class Rounds {
        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        private final ExpertBuffer buffer;
        private final CrossMemory memory;
        private final int tokens;
        private final NormalOptions options;
        private final CompletableFuture<Void> ended = new CompletableFuture<>();
        private final ExpertCallback<NormalResult> dispatched = this::dispatched;
        private final ExpertCallback<NormalResult> dispatchedAgain = this::dispatchedAgain;
        private final ExpertCallback<MemoryRegion> combined = this::combined;
        private @Nullable NormalLayout layout;
        private @Nullable NormalHandle handle;
        private int rounds;
        private long before;
        private long least = Long.MAX_VALUE;

        Rounds(ExpertBuffer buffer, CrossMemory memory, int tokens, NormalOptions options) {
            this.buffer = buffer;
            this.memory = memory;
            this.tokens = tokens;
            this.options = options;
        }

        void dispatch() {
            NormalLayout filled = buffer.layout(memory.choices, CrossMemory.GUARD, tokens, layout);
            layout = filled;
            buffer.dispatch(
                    memory.x,
                    CrossMemory.GUARD,
                    memory.choices,
                    CrossMemory.GUARD,
                    memory.weights,
                    CrossMemory.GUARD,
                    filled,
                    options,
                    dispatched);
        }

        private void dispatched(@Nullable NormalResult result, @Nullable SluiceException error) {
            if (result == null) {
                ended.completeExceptionally(Objects.requireNonNull(error));
                return;
            }
            NormalHandle own = result.handle();
            handle = own;
            result.close();
            buffer.dispatchAgain(memory.x, CrossMemory.GUARD, own, options, dispatchedAgain);
        }

        private void dispatchedAgain(@Nullable NormalResult result, @Nullable SluiceException error) {
            if (result == null) {
                ended.completeExceptionally(Objects.requireNonNull(error));
                return;
            }
            result.close();
            buffer.combine(
                    Objects.requireNonNull(handle),
                    memory.y,
                    CrossMemory.GUARD,
                    null,
                    0,
                    memory.out,
                    CrossMemory.GUARD,
                    null,
                    combined);
        }

        private void combined(@Nullable MemoryRegion sums, @Nullable SluiceException error) {
            if (error != null) {
                ended.completeExceptionally(error);
                return;
            }
            Objects.requireNonNull(handle).close();
            rounds++;
            if (rounds % WINDOW == 0) {
                long now = threads.getCurrentThreadAllocatedBytes();
                if (rounds > WINDOW) {
                    least = Math.min(least, now - before);
                }
                before = threads.getCurrentThreadAllocatedBytes();
            }
            if (rounds < WINDOW * WINDOWS) {
                dispatch();
            } else {
                ended.complete(null);
            }
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"shm, 2, BF16", "tcp, 2, FP8_UE8M0"})
    void otherCallsAllocateNothing(String transport, int size, DispatchFormat format) {
        callsAllocateNothing(transport, size, format);
    }

    @ParameterizedTest
    @CsvSource({"shm, 3, FP8", "tcp, 2, BF16"})
    void callsAllocateNothing(String transport, int size, DispatchFormat format) {
        try (CrossRanks ranks = CrossRanks.form(transport, size)) {
            EveryFormTest.createBuffers(ranks);
            Workload work = EveryFormTest.work(ranks, Workload.Mask.SOME, 1);
            List<Rounds> all = new ArrayList<>();
            for (int rank = 0; rank < size; rank++) {
                CrossMemory memory = new CrossMemory(ranks, work, rank, (long) size * work.maxTokens(), new short[0]);
                all.add(new Rounds(
                        ranks.buffer(rank),
                        memory,
                        work.tokens()[rank],
                        NormalOptions.defaults().withFormat(format)));
            }
            all.forEach(Rounds::dispatch);
            for (Rounds rounds : all) {
                Patience.await(rounds.ended);
                assertThat(rounds.least).as("bytes for %d rounds", WINDOW).isLessThan(MOST_BYTES);
            }
        }
    }
}
