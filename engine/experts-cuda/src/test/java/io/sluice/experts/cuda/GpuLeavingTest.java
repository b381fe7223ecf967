package io.sluice.experts.cuda;

import static io.sluice.experts.cuda.GpuExpertRanks.failure;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.cuda.GpuModule;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.KernelArguments;
import io.sluice.cuda.LaunchShape;
import io.sluice.cuda.PinnedBuffer;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferPriority;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.ExpertsLostException;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.cuda.LowLatencyPairs.Choice;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A rank that closes its buffer tells the others in any case, and ends those calls alone that wait for it. */
class GpuLeavingTest {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int TOKENS = 4;
    private static final int TOP_K = 2;
    private static final long ROW = 128 * 2;
    private static final long LOOKS_NANOS = 100_000_000;
    private static final String WAIT = """
        .version 6.3
        .target sm_75
        .address_size 64
        .visible .entry sluice_wait(.param .u64 sluice_wait_param_0)
        {
        .reg .pred %p<2>;
        .reg .b64 %rd<4>;
        ld.param.u64 %rd2, [sluice_wait_param_0];
        cvta.to.global.u64 %rd1, %rd2;
        again:
        ld.volatile.global.u64 %rd3, [%rd1];
        setp.eq.s64 %p1, %rd3, 0;
        @%p1 bra again;
        ret;
        }
        """;

    /** Holds a stream up until it is opened. */
    private static final class Gate implements AutoCloseable {
        private final GpuModule module;
        private final PinnedBuffer word;
        private final GpuWork work;

        Gate(GpuStream stream) {
            module = GpuModule.load(stream.device(), WAIT.getBytes(US_ASCII));
            word = PinnedBuffer.allocate(stream.device(), Long.BYTES);
            work = stream.work()
                    .launch(module.kernel("sluice_wait"), LaunchShape.of(1, 1), KernelArguments.ofLongs(word.address()))
                    .uses(word)
                    .build();
        }

        void open() {
            WORD.setRelease(word.segment(), 0L, 1L);
        }

        @Override
        public void close() {
            open();
            module.close();
            word.close();
        }
    }

    private static GpuExpertRanks form(int size) {
        return GpuExpertRanks.form(size, new NormalShape(size, 2 * size, 128, TOKENS, TOP_K).gpuOptions());
    }

    /**
     * Calls of a rank whose tokens go to the first rank and the last; the driver makes memory for them only while no kernel waits. A
     * layout waits for no other rank.
     */
    private record Calls(GpuNormalLayout layout, GpuNormalDispatch dispatch) {
        static Calls of(GpuExpertRanks ranks, int rank) {
            MemoryRegion choices = ranks.region(rank, TOKENS * TOP_K * 8);
            GpuExpertRanks.GpuBytes bytes = ranks.bytes(rank, choices);
            for (int i = 0; i < TOKENS * TOP_K; i++) {
                bytes.host().setAtIndex(ValueLayout.JAVA_LONG, i, i % TOP_K == 0 ? 0 : 2L * ranks.size() - 1);
            }
            bytes.put();
            GpuNormalMode mode = ranks.buffer(rank).normalMode();
            GpuNormalLayout layout = mode.prepareLayout(choices, 0, TOKENS);
            GpuNormalDispatch dispatch = mode.prepareDispatch(
                    ranks.region(rank, TOKENS * ROW),
                    0,
                    choices,
                    0,
                    ranks.region(rank, TOKENS * TOP_K * 4),
                    0,
                    layout,
                    NormalOptions.defaults());
            Patience.await(ranks.start(rank, layout::start));
            return new Calls(layout, dispatch);
        }
    }

    private static List<Calls> calls(GpuExpertRanks ranks) {
        List<Calls> all = new ArrayList<>();
        for (int rank = 0; rank < ranks.size(); rank++) {
            all.add(Calls.of(ranks, rank));
        }
        return all;
    }

    /** Rank 0 was told, and has not taken a connection that it lost, or a time-out, for it. */
    private static void checkLost(GpuExpertRanks ranks, CompletableFuture<?> end, int rank) {
        assertThat(failure(end))
                .isInstanceOfSatisfying(
                        ExpertsLostException.class,
                        lost -> assertThat(lost.ranks()).containsExactly(rank));
        assertThat(ranks.team(0).ended().toCompletableFuture()).isNotDone();
    }

    @Test
    void the_others_are_told_though_no_more_launches_are_taken() {
        try (GpuExpertRanks ranks = form(2);
                Gate gate = new Gate(ranks.buffer(1).stream())) {
            List<Calls> calls = calls(ranks);
            gate.work.submit();
            CompletableFuture<@Nullable Void> end = ranks.start(0, calls.get(0).dispatch()::start);
            boolean isFull = false;
            while (!isFull) {
                try {
                    calls.get(1).layout().start();
                } catch (TooManyPendingException full) {
                    isFull = true;
                }
            }
            CompletableFuture<Void> closing = ranks.buffer(1).closeAsync();
            assertThat(closing).isNotDone();
            gate.open();
            checkLost(ranks, end, 1);
            Patience.await(closing);
        }
    }

    @Test
    void the_others_are_told_while_other_threads_use_the_stream() {
        for (int round = 0; round < 5; round++) {
            try (GpuExpertRanks ranks = form(2);
                    Gate gate = new Gate(ranks.buffer(1).stream())) {
                List<Calls> calls = calls(ranks);
                gate.open();
                CompletableFuture<@Nullable Void> end =
                        ranks.start(0, calls.get(0).dispatch()::start);
                List<CompletableFuture<Void>> threads = new ArrayList<>();
                for (int i = 0; i < 2; i++) {
                    threads.add(submitting(gate.work));
                }
                CompletableFuture<Void> closing = ranks.buffer(1).closeAsync();
                checkLost(ranks, end, 1);
                Patience.await(closing);
                threads.forEach(Patience::await);
            }
        }
    }

    /** Until the stream is closed. */
    private static CompletableFuture<Void> submitting(GpuWork work) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        CompletableFuture<Void> begun = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            while (!end.isDone()) {
                try {
                    work.submitUnnumbered();
                } catch (TooManyPendingException | IllegalStateException busy) {
                    Thread.onSpinWait();
                } catch (SluiceException closed) {
                    end.complete(null);
                }
                begun.complete(null);
            }
        });
        Patience.await(begun);
        return end;
    }

    @Test
    void the_others_are_told_after_the_callers_stream_was_closed() {
        try (GpuExpertRanks ranks = GpuExpertRanks.unformed(2);
                GpuStream stream = GpuStream.create(ranks.device(1), TransferPriority.NORMAL)) {
            GpuExpertOptions options = new NormalShape(2, 4, 128, TOKENS, TOP_K).gpuOptions();
            ranks.adopt(List.of(
                    GpuExpertBuffer.create(ranks.team(0), ranks.device(0), options),
                    GpuExpertBuffer.create(ranks.team(1), stream, options)));
            Calls calls = Calls.of(ranks, 0);
            CompletableFuture<@Nullable Void> end = ranks.start(0, calls.dispatch()::start);
            stream.close();
            CompletableFuture<Void> closing = ranks.buffer(1).closeAsync();
            checkLost(ranks, end, 1);
            Patience.await(closing);
        }
    }

    /** The call of rank 0 waits for rank 1, which can make no calls since rank 2 has left. */
    @Test
    void a_rank_that_can_make_no_more_calls_says_so() {
        try (GpuExpertRanks ranks = form(3)) {
            List<Calls> calls = calls(ranks);
            CompletableFuture<@Nullable Void> end = ranks.start(0, calls.get(0).dispatch()::start);
            ranks.start(2, calls.get(2).dispatch()::start);
            CompletableFuture<Void> closing = ranks.buffer(2).closeAsync();
            Patience.until("rank 1 knows", () -> {
                try {
                    calls.get(1).layout().start();
                    return false;
                } catch (TooManyPendingException full) {
                    return false;
                } catch (ExpertsLostException expected) {
                    return true;
                }
            });
            checkLost(ranks, end, 2);
            Patience.await(closing);
        }
    }

    /** What rank 2 had sent is there, and rank 1 goes on. */
    @Test
    void a_call_that_does_not_wait_for_a_rank_that_has_left_succeeds() {
        ExpertOptions options = ExpertOptions.experts(6)
                .hidden(128)
                .maxTokensPerRank(TOKENS)
                .topK(TOP_K)
                .timeout(Patience.BOUND);
        try (LowLatencyPairs pairs = new LowLatencyPairs(3, options)) {
            pairs.draw(new int[] {4, 3, 2}, Choice.RANDOM, 3);
            try (Gate gate = new Gate(pairs.ranks.buffer(1).stream())) {
                List<GpuDispatch> dispatches = new ArrayList<>();
                for (int rank = 0; rank < 3; rank++) {
                    dispatches.add(pairs.rank(rank).dispatch(DispatchFormat.BF16));
                }
                gate.work.submit();
                CompletableFuture<@Nullable Void> late = pairs.ranks.start(1, dispatches.get(1)::start);
                CompletableFuture<@Nullable Void> end = pairs.ranks.start(0, dispatches.get(0)::start);
                Patience.await(pairs.ranks.start(2, dispatches.get(2)::startSend));
                CompletableFuture<Void> closing = pairs.ranks.buffer(2).closeAsync();
                GpuStream stream = pairs.ranks.buffer(2).stream();
                Patience.until("rank 2 has told the others", () -> stream.reached() >= stream.submitted());
                LockSupport.parkNanos(LOOKS_NANOS);
                assertThat(end).isNotDone();
                gate.open();
                Patience.await(end);
                Patience.await(late);
                Patience.await(closing);
            }
        }
    }
}
