package io.sluice.experts.cuda;

import static io.sluice.experts.cuda.LowLatencyResultMemory.COMBINE_SENT;
import static io.sluice.experts.cuda.LowLatencyResultMemory.DISPATCHED;
import static io.sluice.experts.cuda.LowLatencyResultMemory.DISPATCH_SENT;
import static io.sluice.experts.cuda.LowLatencyResultMemory.IDLE;

import io.sluice.cuda.GpuKernel;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.KernelArguments;
import io.sluice.cuda.LaunchShape;
import io.sluice.cuda.MappedRegion;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.experts.CombineFormat;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertCallback;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.ReceiveHook;
import io.sluice.experts.TooManyLiveResultsException;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
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
    // of the thread that starts calls
    private long dispatches;
    private long combines;

    LowLatencyCalls(BufferCore core, LowLatencyMemory memory) {
        this.core = core;
        this.memory = memory;
        this.layout = memory.layout();
        this.kernels = LowLatencyKernels.of(memory.kernels(), layout.hidden);
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
        LowLatencyResultMemory result = freeResult(options.format(), tokens);
        Inputs inputs = new Inputs();
        try {
            KernelArguments arguments = arguments(LowLatencyLayout.DISPATCH, result);
            MemorySegment call = arguments.value(CALL);
            BufferLayout.putLong(call, LowLatencyLayout.DISPATCH_X, inputs.address(x, xOffset));
            BufferLayout.putLong(call, LowLatencyLayout.DISPATCH_CHOICES, inputs.address(topkIdx, topkIdxOffset));
            if (statistics != null) {
                BufferLayout.putLong(
                        call,
                        LowLatencyLayout.DISPATCH_STATISTICS,
                        inputs.address(statistics, options.statisticsOffset()));
            }
            BufferLayout.putLong(call, LowLatencyLayout.DISPATCH_PATIENCE, nanos(options.timeout()));
            BufferLayout.putInt(call, LowLatencyLayout.DISPATCH_TOKENS, tokens);
            BufferLayout.putInt(
                    call, LowLatencyLayout.DISPATCH_FORMAT, options.format().ordinal());
            BufferLayout.putInt(call, LowLatencyLayout.DISPATCH_INDEX, result.index());
            return new GpuDispatch(
                    this,
                    result,
                    prepared(
                            inputs,
                            result,
                            arguments,
                            kernels.dispatchSend(),
                            kernels.dispatchReceive(),
                            layout.startsBytes()));
        } catch (RuntimeException | Error e) {
            inputs.close();
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
        LowLatencyResultMemory result = resultOf(handle);
        if (!result.isLive()) {
            throw new IllegalStateException("the result is closed");
        }
        if (options.format() != CombineFormat.BF16) {
            throw new IllegalArgumentException(
                    "a combine on GPUs is in format BF16, not " + options.format() + ": GPUs have no LogFMT yet");
        }
        int tokens = result.tokensSent();
        long slots = (long) tokens * layout.topK;
        core.check(y, yOffset, layout.rows() * layout.rowBytes(), LowLatencyLayout.VECTOR);
        core.check(topkIdx, topkIdxOffset, slots * Long.BYTES, Long.BYTES);
        core.check(weights, weightsOffset, slots * Float.BYTES, Float.BYTES);
        core.check(out, outOffset, tokens * layout.rowBytes(), LowLatencyLayout.VECTOR);
        Inputs inputs = new Inputs();
        try {
            KernelArguments arguments = arguments(LowLatencyLayout.COMBINE, result);
            MemorySegment call = arguments.value(CALL);
            BufferLayout.putLong(call, LowLatencyLayout.COMBINE_Y, inputs.address(y, yOffset));
            BufferLayout.putLong(call, LowLatencyLayout.COMBINE_CHOICES, inputs.address(topkIdx, topkIdxOffset));
            BufferLayout.putLong(call, LowLatencyLayout.COMBINE_WEIGHTS, inputs.address(weights, weightsOffset));
            BufferLayout.putLong(call, LowLatencyLayout.COMBINE_OUT, inputs.address(out, outOffset));
            BufferLayout.putLong(call, LowLatencyLayout.COMBINE_PATIENCE, nanos(options.timeout()));
            BufferLayout.putInt(call, LowLatencyLayout.COMBINE_TOKENS, tokens);
            BufferLayout.putInt(call, LowLatencyLayout.COMBINE_INDEX, result.index());
            return new GpuCombine(
                    this,
                    result,
                    prepared(inputs, result, arguments, kernels.combineSend(), kernels.combineReceive(), 0));
        } catch (RuntimeException | Error e) {
            inputs.close();
            throw e;
        }
    }

    /** The regions of the user's that a call uses. */
    private static final class Inputs {
        private final List<MappedRegion> mapped = new ArrayList<>();

        long address(MemoryRegion region, long offset) {
            MappedRegion made = MappedRegion.of(region);
            mapped.add(made);
            return made.address() + offset;
        }

        void close() {
            mapped.forEach(MappedRegion::close);
        }
    }

    private LowLatencyResultMemory freeResult(DispatchFormat format, int tokens) {
        for (LowLatencyResultMemory result : memory.results()) {
            if (result.take(format, tokens)) {
                return result;
            }
        }
        throw new TooManyLiveResultsException(
                "two results of low-latency dispatches are not closed; close one before the next dispatch");
    }

    private LowLatencyResultMemory resultOf(LowLatencyResult handle) {
        for (LowLatencyResultMemory result : memory.results()) {
            if (result.equals(handle)) {
                return result;
            }
        }
        throw new IllegalArgumentException("the result is of another buffer");
    }

    private LowLatencyResultMemory otherOf(LowLatencyResultMemory result) {
        return memory.results().get(LowLatencyLayout.RESULTS - 1 - result.index());
    }

    private long nanos(@Nullable Duration timeout) {
        return (timeout == null ? core.options().experts().timeout() : timeout).toNanos();
    }

    private KernelArguments arguments(MemoryLayout call, LowLatencyResultMemory result) {
        KernelArguments arguments =
                KernelArguments.of(call, LowLatencyLayout.RESULT, LowLatencyLayout.SHAPE, BufferLayout.BUFFER);
        result.putStructure(arguments.value(RESULT));
        layout.putShape(arguments.value(SHAPE), core.layout().lowLatencyOffset);
        core.putBuffer(arguments, BUFFER);
        return arguments;
    }

    private PreparedCall prepared(
            Inputs inputs,
            LowLatencyResultMemory result,
            KernelArguments arguments,
            GpuKernel send,
            GpuKernel receive,
            int receiverBytes) {
        LaunchShape sends = LaunchShape.of(core.options().blocks(), LowLatencyLayout.THREADS);
        LaunchShape receives = sends.withSharedBytes(receiverBytes);
        return new PreparedCall(
                work(inputs, result)
                        .launch(send, sends, arguments)
                        .launch(receive, receives, arguments)
                        .build(),
                work(inputs, result).launch(send, sends, arguments).build(),
                work(inputs, result).launch(receive, receives, arguments).build(),
                List.copyOf(inputs.mapped));
    }

    private GpuWork.Builder work(Inputs inputs, LowLatencyResultMemory result) {
        GpuWork.Builder work = core.work().uses(result.mapped()).uses(result.hostCounts());
        inputs.mapped.forEach(work::uses);
        return work;
    }

    // ---- starting; one thread at a time ----

    long startDispatch(LowLatencyResultMemory result, PreparedCall call, boolean isNumbered) {
        return dispatch(result, call.whole(), isNumbered, DISPATCHED);
    }

    long sendDispatch(LowLatencyResultMemory result, PreparedCall call, boolean isNumbered) {
        return dispatch(result, call.send(), isNumbered, DISPATCH_SENT);
    }

    private long dispatch(LowLatencyResultMemory result, GpuWork work, boolean isNumbered, int phase) {
        core.ensureUsable();
        if (otherOf(result).holds(DISPATCH_SENT, dispatches + 1)) {
            throw new IllegalStateException("an earlier dispatch waits for its second half: start that first");
        }
        int before = result.beginDispatch(phase, dispatches + 1);
        long number = submit(result, work, isNumbered, phase, before);
        dispatches++;
        return number;
    }

    long startCombine(LowLatencyResultMemory result, PreparedCall call, boolean isNumbered) {
        return combine(result, call.whole(), isNumbered, IDLE);
    }

    long sendCombine(LowLatencyResultMemory result, PreparedCall call, boolean isNumbered) {
        return combine(result, call.send(), isNumbered, COMBINE_SENT);
    }

    private long combine(LowLatencyResultMemory result, GpuWork work, boolean isNumbered, int phase) {
        core.ensureUsable();
        if (otherOf(result).holds(COMBINE_SENT, combines + 1)) {
            throw new IllegalStateException("an earlier combine waits for its second half: start that first");
        }
        int before = result.beginCombine(phase, combines + 1);
        long number = submit(result, work, isNumbered, phase, before);
        combines++;
        return number;
    }

    private long submit(LowLatencyResultMemory result, GpuWork work, boolean isNumbered, int phase, int before) {
        try {
            return core.submit(work, isNumbered);
        } catch (RuntimeException e) {
            result.goBack(phase, before);
            throw e;
        }
    }

    long receive(LowLatencyResultMemory result, PreparedCall call, boolean isDispatch, boolean isNumbered) {
        core.ensureUsable();
        int before = result.beginReceive(isDispatch);
        return submit(result, call.receive(), isNumbered, isDispatch ? DISPATCHED : IDLE, before);
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
        run(dispatch::start, dispatch::closeInputs, dispatch::close, error -> ended(callback, dispatch, error));
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
        ReceiveHook<LowLatencyResult> hook = once(whenReceived -> run(
                dispatch::startReceive,
                dispatch::closeInputs,
                dispatch::close,
                error -> ended(whenReceived, dispatch, error)));
        run(dispatch::startSend, () -> {}, dispatch::close, error -> {
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
        ReceiveHook<MemoryRegion> hook = once(whenReceived -> run(
                combine::startReceive,
                combine::close,
                combine::close,
                error -> tell(whenReceived, error == null ? out : null, error)));
        run(combine::startSend, () -> {}, combine::close, error -> {
            if (error != null) {
                combine.close();
            }
            tell(callback, error == null ? hook : null, error);
        });
    }

    private static <R> ReceiveHook<R> once(Consumer<ExpertCallback<R>> complete) {
        AtomicBoolean called = new AtomicBoolean();
        return callback -> {
            Objects.requireNonNull(callback, "callback");
            if (!called.compareAndSet(false, true)) {
                throw new IllegalStateException("the hook was completed before");
            }
            try {
                complete.accept(callback);
            } catch (SluiceException e) {
                tell(callback, null, e);
            }
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
