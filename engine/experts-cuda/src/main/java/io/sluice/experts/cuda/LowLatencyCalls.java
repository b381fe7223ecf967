package io.sluice.experts.cuda;

import io.sluice.cuda.GpuWork;
import io.sluice.cuda.KernelArguments;
import io.sluice.cuda.LaunchShape;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertCallback;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.ReceiveHook;
import io.sluice.experts.TooManyLiveResultsException;
import io.sluice.experts.cuda.LowLatencyCall.Kind;
import io.sluice.experts.cuda.LowLatencyCall.Works;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks low-latency calls, makes launches of them, and starts them. */
final class LowLatencyCalls implements GpuLowLatency, GpuMode {
    private static final Logger LOG = LoggerFactory.getLogger(LowLatencyCalls.class);

    private static final int CALL = 0;
    private static final int RESULT = 1;
    private static final int SHAPE = 2;
    private static final int BUFFER = 3;

    private final BufferCore core;
    private final LowLatencyLayout layout;
    private final LowLatencyMemory memory;
    private final LowLatencyKernels kernels;
    private final LowLatencyOrder order;
    private final WaitingCloses waiting;

    LowLatencyCalls(BufferCore core, LowLatencyMemory memory) {
        this.core = core;
        this.memory = memory;
        this.layout = memory.layout();
        this.kernels = LowLatencyKernels.of(memory.kernels(), layout.hidden);
        this.order = new LowLatencyOrder(memory.results());
        this.waiting = new WaitingCloses(core.words());
    }

    @Override
    public CompletableFuture<Void> close() {
        return memory.release();
    }

    // ---- preparing; any thread ----

    @Override
    public GpuDispatch prepareDispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions options) {
        core.ensureUsable();
        if (tokens < 0 || tokens > layout.tokens) {
            throw new IllegalArgumentException(
                    "a rank dispatches 0 to " + layout.tokens + " tokens at once, not " + tokens);
        }
        if (options.format() == DispatchFormat.FP8_UE8M0 && layout.hidden % LowLatencyLayout.CHANNELS_OF_PACKED != 0) {
            throw new IllegalArgumentException("packed scales need a multiple of " + LowLatencyLayout.CHANNELS_OF_PACKED
                    + " channels, not " + layout.hidden);
        }
        core.check(x, xOffset, tokens * layout.rowBytes(), LowLatencyLayout.VECTOR);
        core.check(topkIdx, topkIdxOffset, (long) tokens * layout.topK * Long.BYTES, Long.BYTES);
        MemoryRegion statistics = options.statistics();
        if (statistics != null) {
            core.check(
                    statistics, options.statisticsOffset(), (long) layout.localExperts * Integer.BYTES, Integer.BYTES);
        }
        TakenResult result = freeResult(options.format(), tokens);
        @Nullable CallRegions regions = null;
        try {
            regions = new CallRegions(waiting, result.memory().whole().region());
            KernelArguments arguments = arguments(LowLatencyLayout.DISPATCH, result);
            MemorySegment call = arguments.value(CALL);
            BufferLayout.putLong(call, LowLatencyLayout.DISPATCH_X, regions.sent(x, xOffset));
            BufferLayout.putLong(call, LowLatencyLayout.DISPATCH_CHOICES, regions.sent(topkIdx, topkIdxOffset));
            if (statistics != null) {
                BufferLayout.putLong(
                        call,
                        LowLatencyLayout.DISPATCH_STATISTICS,
                        regions.kept(statistics, options.statisticsOffset()));
            }
            BufferLayout.putLong(call, LowLatencyLayout.DISPATCH_PATIENCE, nanos(options.timeout()));
            BufferLayout.putInt(call, LowLatencyLayout.DISPATCH_TOKENS, tokens);
            BufferLayout.putInt(
                    call, LowLatencyLayout.DISPATCH_FORMAT, options.format().ordinal());
            BufferLayout.putInt(
                    call, LowLatencyLayout.DISPATCH_INDEX, result.memory().index());
            return new GpuDispatch(prepared(
                    Kind.DISPATCH,
                    result,
                    regions,
                    works(regions, result, arguments, kernels.dispatch(), layout.startsBytes())));
        } catch (RuntimeException | Error e) {
            if (regions != null) {
                regions.close();
            }
            result.close();
            throw e;
        }
    }

    @Override
    public GpuCombine prepareCombine(
            LowLatencyResult handle,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions options) {
        core.ensureUsable();
        TakenResult result = resultOf(handle);
        result.ensureLive();
        int tokens = result.tokensSent();
        long slots = (long) tokens * layout.topK;
        core.check(y, yOffset, layout.rows() * layout.rowBytes(), LowLatencyLayout.VECTOR);
        core.check(topkIdx, topkIdxOffset, slots * Long.BYTES, Long.BYTES);
        core.check(weights, weightsOffset, slots * Float.BYTES, Float.BYTES);
        core.check(out, outOffset, tokens * layout.rowBytes(), LowLatencyLayout.VECTOR);
        CallRegions regions = new CallRegions(waiting, result.memory().whole().region());
        try {
            KernelArguments arguments = arguments(LowLatencyLayout.COMBINE, result);
            MemorySegment call = arguments.value(CALL);
            BufferLayout.putLong(call, LowLatencyLayout.COMBINE_Y, regions.sent(y, yOffset));
            BufferLayout.putLong(call, LowLatencyLayout.COMBINE_CHOICES, regions.kept(topkIdx, topkIdxOffset));
            BufferLayout.putLong(call, LowLatencyLayout.COMBINE_WEIGHTS, regions.kept(weights, weightsOffset));
            BufferLayout.putLong(call, LowLatencyLayout.COMBINE_OUT, regions.kept(out, outOffset));
            BufferLayout.putLong(call, LowLatencyLayout.COMBINE_PATIENCE, nanos(options.timeout()));
            BufferLayout.putInt(call, LowLatencyLayout.COMBINE_TOKENS, tokens);
            BufferLayout.putInt(
                    call, LowLatencyLayout.COMBINE_INDEX, result.memory().index());
            return new GpuCombine(prepared(
                    Kind.COMBINE,
                    result,
                    regions,
                    works(regions, result, arguments, kernels.combine(options.format()), 0)));
        } catch (RuntimeException | Error e) {
            regions.close();
            throw e;
        }
    }

    private TakenResult freeResult(DispatchFormat format, int tokens) {
        for (LowLatencyResultMemory result : memory.results()) {
            long generation = result.state().take();
            if (generation != 0) {
                return new TakenResult(core, result, generation, format, tokens);
            }
        }
        throw new TooManyLiveResultsException(
                "two results of low-latency dispatches are not closed; close one before the next dispatch");
    }

    private TakenResult resultOf(LowLatencyResult handle) {
        if (handle instanceof TakenResult result && memory.results().contains(result.memory())) {
            return result;
        }
        throw new IllegalArgumentException("the result is of another buffer");
    }

    private long nanos(@Nullable Duration timeout) {
        return (timeout == null ? core.options().experts().timeout() : timeout).toNanos();
    }

    private KernelArguments arguments(MemoryLayout call, TakenResult result) {
        KernelArguments arguments =
                KernelArguments.of(call, LowLatencyLayout.RESULT, LowLatencyLayout.SHAPE, BufferLayout.BUFFER);
        result.memory().putStructure(arguments.value(RESULT));
        layout.putShape(arguments.value(SHAPE), core.layout().lowLatencyOffset);
        core.putBuffer(arguments, BUFFER);
        Proxy proxy = core.proxy();
        if (proxy != null) {
            proxy.memory().putInto(arguments.value(SHAPE));
        }
        return arguments;
    }

    private LowLatencyCall prepared(Kind kind, TakenResult result, CallRegions regions, Works works) {
        return new LowLatencyCall(core, kind, order, result, regions, works);
    }

    private Works works(
            CallRegions regions,
            TakenResult result,
            KernelArguments arguments,
            LowLatencyKernels.Halves halves,
            int receiverBytes) {
        LaunchShape sends = LaunchShape.of(core.options().blocks(), LowLatencyLayout.THREADS);
        LaunchShape receives = sends.withSharedBytes(receiverBytes);
        return new Works(
                regions.used(work(result))
                        .launch(halves.send(), sends, arguments)
                        .launch(halves.receive(), receives, arguments)
                        .build(),
                regions.used(work(result))
                        .launch(halves.send(), sends, arguments)
                        .build(),
                regions.usedInSecondHalf(work(result))
                        .launch(halves.receive(), receives, arguments)
                        .build());
    }

    private GpuWork.Builder work(TakenResult result) {
        return core.work()
                .uses(result.memory().whole().mapped())
                .uses(result.memory().hostCounts());
    }

    // ---- calls with callbacks ----

    @Override
    public void lowLatencyDispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions options,
            ExpertCallback<LowLatencyResult> callback) {
        Objects.requireNonNull(callback, "callback");
        GpuDispatch dispatch = prepareDispatch(x, xOffset, topkIdx, topkIdxOffset, tokens, options);
        run(dispatch::start, dispatch::closeRegions, dispatch::close, error -> ended(callback, dispatch, error));
    }

    @Override
    public void lowLatencyDispatchHooked(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions options,
            ExpertCallback<ReceiveHook<LowLatencyResult>> callback) {
        Objects.requireNonNull(callback, "callback");
        GpuDispatch dispatch = prepareDispatch(x, xOffset, topkIdx, topkIdxOffset, tokens, options);
        ReceiveHook<LowLatencyResult> hook = hook(
                dispatch::startReceive,
                dispatch::closeRegions,
                (whenReceived, error) -> ended(whenReceived, dispatch, error));
        run(dispatch::startSend, dispatch::closeRegions, dispatch::close, error -> {
            if (error != null) {
                dispatch.close();
            }
            tell(callback, error == null ? hook : null, error);
        });
    }

    private static void ended(
            ExpertCallback<LowLatencyResult> callback, GpuDispatch dispatch, @Nullable SluiceException error) {
        if (error != null) {
            dispatch.close();
        }
        tell(callback, error == null ? dispatch.result() : null, error);
    }

    @Override
    public void lowLatencyCombine(
            LowLatencyResult handle,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions options,
            ExpertCallback<MemoryRegion> callback) {
        Objects.requireNonNull(callback, "callback");
        GpuCombine combine = prepareCombine(
                handle, y, yOffset, topkIdx, topkIdxOffset, weights, weightsOffset, out, outOffset, options);
        run(combine::start, combine::close, combine::close, error -> tell(callback, error == null ? out : null, error));
    }

    @Override
    public void lowLatencyCombineHooked(
            LowLatencyResult handle,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions options,
            ExpertCallback<ReceiveHook<MemoryRegion>> callback) {
        Objects.requireNonNull(callback, "callback");
        GpuCombine combine = prepareCombine(
                handle, y, yOffset, topkIdx, topkIdxOffset, weights, weightsOffset, out, outOffset, options);
        ReceiveHook<MemoryRegion> hook = hook(
                combine::startReceive,
                combine::close,
                (whenReceived, error) -> tell(whenReceived, error == null ? out : null, error));
        run(
                combine::startSend,
                combine::close,
                combine::close,
                error -> tell(callback, error == null ? hook : null, error));
    }

    /** Refused, a second half may be started again, unless the buffer has ended. */
    private <R> ReceiveHook<R> hook(
            LongSupplier start, Runnable close, BiConsumer<ExpertCallback<R>, @Nullable SluiceException> ended) {
        AtomicBoolean called = new AtomicBoolean();
        return callback -> {
            Objects.requireNonNull(callback, "callback");
            if (!called.compareAndSet(false, true)) {
                throw new IllegalStateException("the hook was completed before");
            }
            long number;
            try {
                number = start.getAsLong();
            } catch (RuntimeException e) {
                SluiceException failure = core.words().failure();
                if (failure == null) {
                    called.set(false);
                    throw e;
                }
                close.run();
                ended.accept(callback, failure);
                return;
            }
            close.run();
            whenReached(number, error -> ended.accept(callback, error));
        };
    }

    /** Starts work, and says on the loop how it has ended. */
    private void run(
            LongSupplier start, Runnable whenStarted, Runnable whenRefused, Consumer<@Nullable SluiceException> ended) {
        long number;
        try {
            number = start.getAsLong();
        } catch (RuntimeException | Error e) {
            whenRefused.run();
            throw e;
        }
        whenStarted.run();
        whenReached(number, ended);
    }

    private void whenReached(long number, Consumer<@Nullable SluiceException> ended) {
        core.onReached((wait, reached, error) -> {
                    wait.close();
                    ended.accept(error);
                })
                .arm(number);
    }

    private static <T> void tell(ExpertCallback<T> callback, @Nullable T result, @Nullable SluiceException error) {
        try {
            callback.ended(result, error);
        } catch (RuntimeException e) {
            LOG.error("the callback of a call on an expert buffer threw an exception", e);
        }
    }
}
