package io.sluice.experts.cuda;

import static io.sluice.experts.cuda.GpuExpertRanks.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.cuda.GpuStream;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertBufferClosedException;
import io.sluice.experts.ExpertsLostException;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.TooManyLiveResultsException;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Ranks that do not come, leave or call something else, and rows without room, end calls of all ranks with a typed error. */
class GpuNormalFailureTest {
    private static final int TOKENS = 4;
    private static final int TOP_K = 2;
    private static final NormalShape SHAPE = new NormalShape(2, 4, 128, TOKENS, TOP_K);
    private static final NormalOptions PLAIN = NormalOptions.defaults();
    private static final NormalOptions SHORT = PLAIN.withTimeout(Duration.ofMillis(300));
    private static final long ROW = 128 * 2;

    /** Regions of a rank whose tokens go to both ranks, and a layout that was started. */
    private static final class Calls {
        final GpuNormalMode mode;
        final MemoryRegion x;
        final MemoryRegion choices;
        final MemoryRegion weights;
        final MemoryRegion y;
        final MemoryRegion out;
        final GpuNormalLayout layout;

        Calls(GpuExpertRanks ranks, int rank) {
            this(ranks, rank, 0);
        }

        Calls(GpuExpertRanks ranks, int rank, long first) {
            mode = ranks.buffer(rank).normalMode();
            x = ranks.region(rank, TOKENS * ROW);
            choices = ranks.region(rank, TOKENS * TOP_K * 8);
            weights = ranks.region(rank, TOKENS * TOP_K * 4);
            y = ranks.region(rank, 2 * TOKENS * ROW);
            out = ranks.region(rank, TOKENS * ROW);
            GpuExpertRanks.GpuBytes bytes = ranks.bytes(rank, choices);
            for (int i = 0; i < TOKENS * TOP_K; i++) {
                bytes.host().setAtIndex(ValueLayout.JAVA_LONG, i, i % TOP_K == 0 ? first : 2);
            }
            bytes.put();
            layout = mode.prepareLayout(choices, 0, TOKENS);
        }

        GpuNormalDispatch dispatch(NormalOptions options) {
            return mode.prepareDispatch(x, 0, choices, 0, weights, 0, layout, options);
        }

        GpuNormalCombine combine(GpuNormalHandle handle) {
            return mode.prepareCombine(handle, y, 0, null, 0, out, 0, null);
        }
    }

    private static List<Calls> calls(GpuExpertRanks ranks) {
        List<Calls> all = new ArrayList<>();
        for (int rank = 0; rank < ranks.size(); rank++) {
            all.add(new Calls(ranks, rank));
        }
        ranks.run(rank -> all.get(rank).layout::start);
        return all;
    }

    private static GpuExpertRanks form() {
        return GpuExpertRanks.form(2, SHAPE.gpuOptions());
    }

    private static List<CompletableFuture<@Nullable Void>> start(GpuExpertRanks ranks, List<GpuNormalCall> calls) {
        List<CompletableFuture<@Nullable Void>> ends = new ArrayList<>();
        for (int rank = 0; rank < calls.size(); rank++) {
            ends.add(ranks.start(rank, calls.get(rank)::start));
        }
        return ends;
    }

    private static void checkDiffer(List<CompletableFuture<@Nullable Void>> ends) {
        boolean isNamed = false;
        for (CompletableFuture<@Nullable Void> each : ends) {
            Throwable error = failure(each);
            assertThat(error).isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class);
            isNamed |= error instanceof CollectiveMismatchException;
        }
        assertThat(isNamed).isTrue();
    }

    @Test
    void a_rank_that_does_not_come_is_named_when_the_time_is_over() {
        try (GpuExpertRanks ranks = form()) {
            List<Calls> calls = calls(ranks);
            GpuNormalDispatch dispatch = calls.get(0).dispatch(SHORT);
            assertThat(failure(ranks.start(0, dispatch::start)))
                    .isInstanceOf(CollectiveTimeoutException.class)
                    .hasMessageContaining("rank 1");
            assertThatThrownBy(dispatch::start).isInstanceOf(CollectiveTimeoutException.class);
            Patience.until("the other rank knows", () -> {
                try {
                    calls.get(1).dispatch(SHORT).close();
                    return false;
                } catch (SluiceException expected) {
                    return true;
                }
            });
        }
    }

    /** Those of the dispatch before are still there. */
    @Test
    void a_dispatch_that_has_failed_has_no_numbers() {
        try (GpuExpertRanks ranks = form()) {
            List<Calls> calls = calls(ranks);
            List<GpuNormalDispatch> dispatches =
                    List.of(calls.get(0).dispatch(SHORT), calls.get(1).dispatch(SHORT));
            ranks.run(rank -> dispatches.get(rank)::start);
            GpuNormalResult result = dispatches.get(0).result();
            assertThat(result.received()).isEqualTo(2 * TOKENS);
            long number = dispatches.get(0).start();
            GpuStream stream = ranks.buffer(0).stream();
            Patience.until("the dispatch has ended", () -> stream.reached() >= number);
            assertThatThrownBy(result::received).isInstanceOf(CollectiveTimeoutException.class);
            assertThatThrownBy(() -> result.count(0)).isInstanceOf(CollectiveTimeoutException.class);
        }
    }

    @Test
    void a_rank_that_closes_its_buffer_ends_those_that_wait_for_it() {
        try (GpuExpertRanks ranks = form()) {
            List<Calls> calls = calls(ranks);
            CompletableFuture<@Nullable Void> end = ranks.start(0, calls.get(0).dispatch(PLAIN)::start);
            Patience.await(ranks.buffer(1).closeAsync());
            assertThat(failure(end))
                    .isInstanceOfSatisfying(
                            ExpertsLostException.class,
                            error -> assertThat(error.ranks()).containsExactly(1));
        }
    }

    @Test
    void a_rank_that_is_lost_ends_those_that_wait_for_it() {
        try (GpuExpertRanks ranks = form()) {
            List<Calls> calls = calls(ranks);
            CompletableFuture<@Nullable Void> end = ranks.start(0, calls.get(0).dispatch(PLAIN)::start);
            Patience.await(ranks.engine(1).closeAsync());
            assertThat(failure(end))
                    .isInstanceOfSatisfying(
                            ExpertsLostException.class,
                            error -> assertThat(error.ranks()).containsExactly(1));
        }
    }

    @Test
    void ranks_with_different_formats_get_an_error() {
        try (GpuExpertRanks ranks = form()) {
            List<Calls> calls = calls(ranks);
            checkDiffer(start(
                    ranks,
                    List.of(
                            calls.get(0).dispatch(PLAIN),
                            calls.get(1).dispatch(PLAIN.withFormat(DispatchFormat.FP8)))));
        }
    }

    @Test
    void a_dispatch_is_no_combine() {
        try (GpuExpertRanks ranks = form()) {
            List<Calls> calls = calls(ranks);
            List<GpuNormalDispatch> dispatches =
                    List.of(calls.get(0).dispatch(PLAIN), calls.get(1).dispatch(PLAIN));
            ranks.run(rank -> dispatches.get(rank)::start);
            checkDiffer(start(
                    ranks,
                    List.of(
                            dispatches.get(0),
                            calls.get(1).combine(dispatches.get(1).handle()))));
        }
    }

    @Test
    void handles_of_different_dispatches_are_not_combined() {
        try (GpuExpertRanks ranks = form()) {
            List<Calls> calls = calls(ranks);
            List<GpuNormalDispatch> first =
                    List.of(calls.get(0).dispatch(PLAIN), calls.get(1).dispatch(PLAIN));
            List<GpuNormalDispatch> second =
                    List.of(calls.get(0).dispatch(PLAIN), calls.get(1).dispatch(PLAIN));
            ranks.run(rank -> first.get(rank)::start);
            ranks.run(rank -> second.get(rank)::start);
            checkDiffer(start(
                    ranks,
                    List.of(
                            calls.get(0).combine(first.get(0).handle()),
                            calls.get(1).combine(second.get(1).handle()))));
        }
    }

    /** Each rank knows what the others get, so nothing is written. */
    @Test
    void more_rows_than_the_worst_case_are_refused_before_any_is_written() {
        try (GpuExpertRanks ranks = form()) {
            List<Calls> calls = calls(ranks);
            NormalOptions tight = PLAIN.withWorstTokens(2 * TOKENS - 1);
            List<GpuNormalDispatch> dispatches =
                    List.of(calls.get(0).dispatch(tight), calls.get(1).dispatch(tight));
            GpuExpertRanks.GpuBytes rows =
                    ranks.bytes(1, dispatches.get(1).result().tokens());
            rows.fill(7);
            for (CompletableFuture<@Nullable Void> each : start(ranks, List.copyOf(dispatches))) {
                assertThat(failure(each)).isInstanceOfAny(TooManyRowsException.class, TeamRevokedException.class);
            }
            assertThat(rows.get().asSlice(0, ROW).mismatch(filled(ROW, 7))).isEqualTo(-1);
        }
    }

    @Test
    void fewer_vectors_than_rows_are_not_combined() {
        try (GpuExpertRanks ranks = form()) {
            List<Calls> calls = calls(ranks);
            List<GpuNormalDispatch> dispatches =
                    List.of(calls.get(0).dispatch(PLAIN), calls.get(1).dispatch(PLAIN));
            ranks.run(rank -> dispatches.get(rank)::start);
            Calls own = calls.get(0);
            GpuNormalCombine combine =
                    own.mode.prepareCombine(dispatches.get(0).handle(), own.y, ROW, null, 0, own.out, 0, null);
            assertThat(failure(ranks.start(0, combine::start)))
                    .isInstanceOf(TooManyRowsException.class)
                    .hasMessageContaining("8 rows")
                    .hasMessageContaining("7");
        }
    }

    private static MemorySegment filled(long bytes, int value) {
        byte[] all = new byte[(int) bytes];
        Arrays.fill(all, (byte) value);
        return MemorySegment.ofArray(all);
    }

    @Test
    void a_choice_that_there_is_not_ends_the_buffer() {
        try (GpuExpertRanks ranks = form()) {
            Calls calls = new Calls(ranks, 0, 4);
            assertThat(failure(ranks.start(0, calls.layout::start)))
                    .isInstanceOf(InvalidChoiceException.class)
                    .hasMessageContaining("expert 4");
        }
    }

    @Test
    void a_third_result_has_no_memory_until_one_is_closed() {
        try (GpuExpertRanks ranks = form()) {
            Calls calls = calls(ranks).get(0);
            GpuNormalDispatch first = calls.dispatch(PLAIN);
            calls.dispatch(PLAIN);
            assertThatThrownBy(() -> calls.dispatch(PLAIN)).isInstanceOf(TooManyLiveResultsException.class);
            first.close();
            first.close();
            calls.dispatch(PLAIN);
            assertThatThrownBy(() -> calls.dispatch(PLAIN)).isInstanceOf(TooManyLiveResultsException.class);
        }
    }

    @Test
    void nothing_starts_that_was_not_prepared_or_is_closed() {
        try (GpuExpertRanks ranks = form()) {
            Calls calls = new Calls(ranks, 0);
            GpuNormalDispatch dispatch = calls.dispatch(PLAIN);
            GpuNormalCombine combine = calls.combine(dispatch.handle());
            assertThatThrownBy(dispatch::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("layout");
            assertThatThrownBy(combine::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("dispatch");
            assertThatThrownBy(() -> dispatch.result().received()).isInstanceOf(IllegalStateException.class);
            calls.layout.close();
            assertThatThrownBy(calls.layout::start).isInstanceOf(SluiceException.class);
            dispatch.handle().close();
            assertThatThrownBy(() -> calls.combine(dispatch.handle()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
            // what is closed does not keep regions
            dispatch.close();
            combine.close();
            for (MemoryRegion each : List.of(calls.x, calls.choices, calls.weights, calls.y, calls.out)) {
                Patience.await(each.close());
            }
        }
    }

    @Test
    void a_closed_buffer_keeps_no_regions() {
        try (GpuExpertRanks ranks = form()) {
            Calls calls = calls(ranks).get(0);
            GpuNormalDispatch dispatch = calls.dispatch(PLAIN);
            GpuNormalCombine combine = calls.combine(dispatch.handle());
            Patience.await(ranks.buffer(0).closeAsync());
            for (MemoryRegion each : List.of(calls.x, calls.choices, calls.weights, calls.y, calls.out)) {
                Patience.await(each.close());
            }
            assertThatThrownBy(dispatch::start).isInstanceOf(ExpertBufferClosedException.class);
            assertThatThrownBy(combine::start).isInstanceOf(SluiceException.class);
            assertThatThrownBy(() -> calls.dispatch(PLAIN)).isInstanceOf(ExpertBufferClosedException.class);
        }
    }

    @Test
    void bad_arguments_are_refused_before_anything_starts() {
        try (GpuExpertRanks ranks = form()) {
            List<Calls> all = calls(ranks);
            Calls calls = all.get(0);
            GpuNormalMode mode = calls.mode;
            assertThatThrownBy(() -> mode.prepareLayout(calls.choices, 0, TOKENS + 1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> mode.prepareLayout(calls.choices, 8, TOKENS))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> mode.prepareLayout(calls.choices, 4, 1))
                    .isInstanceOf(IllegalArgumentException.class);
            MemoryRegion host = ranks.engine(0).allocate(1 << 16, RegionOptions.local());
            assertThatThrownBy(() -> mode.prepareLayout(host, 0, TOKENS))
                    .isInstanceOf(MemoryNotAccessibleException.class);
            assertThatThrownBy(() -> all.get(1)
                            .mode
                            .prepareDispatch(
                                    all.get(1).x, 0, all.get(1).choices, 0, all.get(1).weights, 0, calls.layout, PLAIN))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another buffer");
            assertThatThrownBy(() -> calls.dispatch(PLAIN.withWorstTokens(2 * TOKENS + 1)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> calls.dispatch(PLAIN.withFormat(DispatchFormat.FP8_UE8M0)))
                    .isInstanceOf(IllegalArgumentException.class);
            // none of them has taken memory of a result
            calls.dispatch(PLAIN).close();
            GpuNormalDispatch dispatch = calls.dispatch(PLAIN);
            calls.dispatch(PLAIN);
            assertThatThrownBy(() ->
                            mode.prepareCombine(dispatch.handle(), calls.y, 0, null, 0, calls.out, 0, Duration.ZERO))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> mode.prepareCombine(dispatch.handle(), calls.y, 0, null, 0, calls.out, 16, null))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
        try (GpuExpertRanks ranks =
                GpuExpertRanks.form(1, GpuExpertOptions.of(SHAPE.options().normalMode(false)))) {
            assertThatThrownBy(() -> ranks.buffer(0).normalMode()).isInstanceOf(IllegalStateException.class);
        }
    }
}
