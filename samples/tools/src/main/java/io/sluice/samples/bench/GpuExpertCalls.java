package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.cuda.GpuCombine;
import io.sluice.experts.cuda.GpuDispatch;
import io.sluice.experts.cuda.GpuExpertBuffer;
import io.sluice.experts.cuda.GpuNormalCombine;
import io.sluice.experts.cuda.GpuNormalDispatch;
import io.sluice.experts.cuda.GpuNormalLayout;
import io.sluice.experts.cuda.GpuNormalMode;
import io.sluice.experts.cuda.GpuNormalResult;
import io.sluice.samples.bench.GpuCopies.Copy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Prepared calls in memory of a GPU, which is filled from memory of the host, and compared there. */
final class GpuExpertCalls implements ExpertCalls {
    /** Rounds that are started without being waited for: those of low-latency are four launches. */
    private static final int MOST_UNDER_WAY = 40;

    /** What is measured by the clock of the GPU, one after the other. */
    private static final int DEVICE_MEASUREMENTS = 3;

    private final TransferEngine engine;
    private final GpuExpertBuffer buffer;
    private final ExpertPlan plan;
    private final ExpertContent content;
    private final ExpertMemory host;
    private final MemoryPlace place;
    private final RankControl control;
    private final GpuCopies copies;
    private final GpuRounds rounds;
    private final List<MemoryRegion> allocated = new ArrayList<>();
    private final List<Runnable> closing = new ArrayList<>();
    private final MemoryRegion tokens;
    private final MemoryRegion choices;
    private final MemoryRegion weights;
    private final MemoryRegion sums;
    private final MemoryRegion answers;
    private final Copy tokensCopy;
    private final Copy sumsCopy;
    private final Copy answersCopy;
    private final Prepared calls;
    private final GpuRounds.Reached ended = error -> operations().ended(error);
    private final GpuRounds.Reached dispatchedAgain = this::combineNow;
    private @Nullable OperationLoop loop;

    /** A prepared call: how it is started to be waited for, and how others follow it. */
    private record Call(LongSupplier awaited, Runnable followed) {
        long start() {
            return awaited.getAsLong();
        }
    }

    private record Prepared(Call dispatch, Call combine, Supplier<ExpertRows> rows) {}

    GpuExpertCalls(
            TransferEngine engine,
            GpuExpertBuffer buffer,
            ExpertPlan plan,
            ExpertContent content,
            ExpertMemory host,
            MemoryPlace place,
            RankControl control) {
        this.engine = engine;
        this.buffer = buffer;
        this.plan = plan;
        this.content = content;
        this.host = host;
        this.place = place;
        this.control = control;
        copies = new GpuCopies(engine, control);
        rounds = new GpuRounds(buffer.stream(), buffer::onReached);
        tokens = like(host.tokens());
        choices = like(host.choices());
        weights = like(host.weights());
        sums = like(host.sums());
        answers = like(host.answers());
        tokensCopy = copies.copy(host.tokens(), tokens);
        sumsCopy = copies.copy(host.sums(), sums);
        answersCopy = copies.copy(host.answers(), answers);
        copies.copy(host.choices(), choices).put();
        copies.copy(host.weights(), weights).put();
        calls = switch (plan.mode()) {
            case LOW_LATENCY -> lowLatency();
            case NORMAL -> normal();
        };
    }

    private MemoryRegion like(MemoryRegion region) {
        MemoryRegion made = engine.allocate(region.length(), place.of(RegionOptions.readWrite()));
        allocated.add(made);
        return made;
    }

    private Prepared lowLatency() {
        GpuDispatch dispatch = buffer.lowLatency()
                .prepareDispatch(
                        tokens,
                        0,
                        choices,
                        0,
                        plan.tokens(),
                        DispatchOptions.defaults().withFormat(plan.format()));
        LowLatencyResult result = dispatch.result();
        GpuCombine combine = buffer.lowLatency()
                .prepareCombine(result, answers, 0, choices, 0, weights, 0, sums, 0, CombineOptions.defaults());
        closing.addAll(List.of(combine::close, dispatch::close));
        Copy rows = copies.copy(result.tokens());
        Copy scales = result.scales().map(copies::copy).orElse(null);
        Copy sources = copies.copy(result.sources());
        Copy ranges = copies.copy(result.ranges());
        return new Prepared(
                new Call(dispatch::start, dispatch::startUnnumbered),
                new Call(combine::start, combine::startUnnumbered),
                () -> new LowLatencyRows(
                        plan,
                        content,
                        buffer.team().rank(),
                        rows.get(),
                        scales == null ? null : scales.get(),
                        sources.get(),
                        ranges.get()));
    }

    private Prepared normal() {
        GpuNormalMode mode = buffer.normalMode();
        GpuNormalLayout layout = mode.prepareLayout(choices, 0, plan.tokens());
        GpuNormalDispatch dispatch = mode.prepareDispatch(
                tokens,
                0,
                choices,
                0,
                weights,
                0,
                layout,
                NormalOptions.defaults().withFormat(plan.format()));
        GpuNormalCombine combine = mode.prepareCombine(dispatch.handle(), answers, 0, null, 0, sums, 0, null);
        closing.addAll(List.of(combine::close, dispatch::close, dispatch.handle()::close, layout::close));
        rounds.await(layout.start(), control);
        GpuNormalResult result = dispatch.result();
        Copy rows = copies.copy(result.tokens());
        Copy scales = result.scales().map(copies::copy).orElse(null);
        Copy rowChoices = copies.copy(result.choices().orElseThrow());
        Copy rowWeights = copies.copy(result.weights().orElseThrow());
        Copy sources = copies.copy(result.sources());
        return new Prepared(
                new Call(dispatch::start, dispatch::startUnnumbered),
                new Call(combine::start, combine::startUnnumbered),
                () -> new NormalRows(
                        plan,
                        content,
                        buffer.team().rank(),
                        result.received(),
                        rows.get(),
                        scales == null ? null : scales.get(),
                        rowChoices.get(),
                        rowWeights.get(),
                        sources.get()));
    }

    private OperationLoop operations() {
        return Objects.requireNonNull(loop);
    }

    @Override
    public OperationLoop.Operation dispatch() {
        return (number, operations) -> {
            loop = operations;
            rounds.arm(calls.dispatch().start(), ended);
        };
    }

    /**
     * A low-latency result is combined once, so that each combine needs a dispatch, which does not count. It brings the same tokens into
     * the same rows, for which there are answers.
     */
    @Override
    public OperationLoop.Operation combine() {
        return (number, operations) -> {
            loop = operations;
            if (plan.mode() == ExpertMode.LOW_LATENCY) {
                operations.pause();
                rounds.arm(calls.dispatch().start(), dispatchedAgain);
            } else {
                rounds.arm(calls.combine().start(), ended);
            }
        };
    }

    private void combineNow(@Nullable SluiceException error) {
        if (error != null) {
            operations().ended(error);
            return;
        }
        operations().resume();
        try {
            rounds.arm(calls.combine().start(), ended);
        } catch (SluiceException e) {
            operations().ended(e);
        }
    }

    @Override
    public void fill(long block) {
        host.fill(block);
        tokensCopy.put();
        sumsCopy.put();
    }

    @Override
    public ExpertRows rows() {
        return calls.rows().get();
    }

    @Override
    public void answer(ExpertRows rows, long block) {
        rows.answer(block, host.answers().segment());
        answersCopy.put();
    }

    @Override
    public long wrongSums(long block) {
        sumsCopy.get();
        return host.wrongSums(block);
    }

    @Override
    public @Nullable String backend() {
        return null;
    }

    @Override
    public DeviceMicros deviceMicros(RankControl ranks) {
        Runnable dispatch = calls.dispatch().followed();
        Runnable combine = calls.combine().followed();
        Runnable round = () -> {
            dispatch.run();
            combine.run();
        };
        Duration each = plan.duration().dividedBy(DEVICE_MEASUREMENTS);
        double dispatchMicros = rounds.micros(ranks, each, MOST_UNDER_WAY, dispatch, dispatch);
        double roundMicros = rounds.micros(ranks, each, MOST_UNDER_WAY, round, round);
        double combineMicros = switch (plan.mode()) {
            // as a result is combined once, one follows a dispatch that follows a round
            case LOW_LATENCY ->
                rounds.micros(
                        ranks,
                        each,
                        1,
                        () -> {
                            round.run();
                            dispatch.run();
                        },
                        combine);
            case NORMAL -> rounds.micros(ranks, each, MOST_UNDER_WAY, combine, combine);
        };
        return new DeviceMicros(dispatchMicros, combineMicros, roundMicros);
    }

    @Override
    public void close() {
        rounds.close();
        closing.forEach(Runnable::run);
        Waiting.await(buffer.closeAsync(), "closing the buffer");
        copies.close();
        allocated.forEach(region -> Waiting.await(region.close(), "giving memory of a GPU back"));
    }
}
