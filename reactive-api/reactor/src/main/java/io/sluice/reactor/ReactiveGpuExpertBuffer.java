package io.sluice.reactor;

import io.sluice.collectives.Team;
import io.sluice.cuda.GpuStream;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import io.sluice.experts.cuda.GpuExpertBuffer;
import io.sluice.experts.cuda.GpuExpertGraph;
import io.sluice.experts.cuda.GpuExpertOptions;
import io.sluice.experts.cuda.GpuLowLatency;
import io.sluice.experts.cuda.GpuLowLatencyCall;
import io.sluice.experts.cuda.GpuNormalCall;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * A {@link GpuExpertBuffer} with a reactive interface; needs {@code sluice-experts-cuda}. Calls and graphs are prepared by {@link
 * #buffer()}, and each run of one is a {@code Mono}, which emits it when this rank's GPU is through with it. The low-latency calls that
 * need no preparation are those of {@link ReactiveExpertBuffer}, for memory of the GPU: parameters and errors are those of {@link
 * GpuLowLatency}.
 *
 * <pre>{@code
 * GpuNormalLayout layout = buffer.buffer().normalMode().prepareLayout(choices, 0, tokens);
 * GpuNormalDispatch dispatch = buffer.buffer().normalMode().prepareDispatch(…, layout, options);
 * Mono<GpuNormalDispatch> arrived = buffer.run(layout).then(buffer.run(dispatch));
 * }</pre>
 *
 * <p><strong>Lazy and cold.</strong> A call is started when its subscriber requests the result, once for each subscriber, so {@code
 * repeat} works. The order of these starts must be that of the other ranks, and one thread at a time starts: subscribe in order. What a
 * start throws is signalled by {@code onError}; the other errors are those of {@link GpuExpertBuffer#onReached}.
 *
 * <p><strong>Halves.</strong> {@link #send} and {@link #receive} run the halves of a prepared low-latency call. The Monos of {@link
 * #lowLatencyDispatchHooked} and {@link #lowLatencyCombineHooked} end when the GPU has sent; {@link ReactiveReceiveHook#complete()} is
 * the arrival, which after a {@link io.sluice.engine.TooManyPendingException} may be subscribed to again.
 *
 * <p><strong>Cancel.</strong> Before the start a cancel prevents it; the other ranks then wait for this one until their time-out.
 * Afterwards nothing more is emitted, but the call goes on, as a GPU cannot be stopped and the other ranks need it: before changing its
 * memory wait for {@link #quiesced()}, or give the change to the buffer's stream.
 *
 * <p><strong>Threads.</strong> Signals arrive on the thread of the team's loop, which must not block, or on the scheduler of {@link
 * #withScheduler}. All methods may be called from any thread. Instances are immutable and cheap.
 */
@SuppressWarnings("exports") // Applications with experts on GPUs require their module; others do without.
public final class ReactiveGpuExpertBuffer extends ReactiveLowLatency {
    static {
        PollerThreads.declareNonBlocking();
    }

    private final GpuExpertBuffer buffer;

    private ReactiveGpuExpertBuffer(GpuExpertBuffer buffer, @Nullable Scheduler scheduler, AbandonedCalls abandoned) {
        super(buffer::lowLatency, scheduler, abandoned);
        this.buffer = buffer;
    }

    /**
     * Wraps a buffer. Both interfaces may be used side by side.
     *
     * @param buffer the buffer
     * @return the wrapper, with signals on the team's loop
     */
    public static ReactiveGpuExpertBuffer from(GpuExpertBuffer buffer) {
        return new ReactiveGpuExpertBuffer(Objects.requireNonNull(buffer, "buffer"), null, new AbandonedCalls());
    }

    /**
     * Creates a buffer, with a stream of its own, one for each subscriber. A collective of the team's; it is called on a thread of {@code
     * Schedulers.boundedElastic()}, as the driver takes milliseconds. Call nothing else of the team until it has
     * ended, so that the order stays that of the other ranks. A buffer that no subscriber takes is closed.
     *
     * @param team of ranks whose engines have the transport {@code cuda}; stays open when the buffer is closed
     * @param gpu the stable id of this rank's GPU
     * @param options the same on all ranks
     * @return the buffer, with signals where the team has its own, or an error as from {@link GpuExpertBuffer#create(Team, String,
     *     GpuExpertOptions)}
     */
    public static Mono<ReactiveGpuExpertBuffer> create(ReactiveTeam team, String gpu, GpuExpertOptions options) {
        Objects.requireNonNull(gpu, "gpu");
        Objects.requireNonNull(options, "options");
        return created(team, () -> GpuExpertBuffer.create(team.team(), gpu, options));
    }

    /**
     * Creates a buffer with a stream of the caller's, as {@link #create(ReactiveTeam, String, GpuExpertOptions)} does with one of its own.
     *
     * @param team of ranks whose engines have the transport {@code cuda}; stays open when the buffer is closed
     * @param stream of this rank's GPU; stays open when the buffer is closed
     * @param options the same on all ranks
     * @return the buffer
     */
    public static Mono<ReactiveGpuExpertBuffer> create(ReactiveTeam team, GpuStream stream, GpuExpertOptions options) {
        Objects.requireNonNull(stream, "stream");
        Objects.requireNonNull(options, "options");
        return created(team, () -> GpuExpertBuffer.create(team.team(), stream, options));
    }

    private static Mono<ReactiveGpuExpertBuffer> created(
            ReactiveTeam team, Supplier<CompletableFuture<GpuExpertBuffer>> creating) {
        Scheduler scheduler = team.scheduler();
        Function<GpuExpertBuffer, ReactiveGpuExpertBuffer> wrapper =
                created -> new ReactiveGpuExpertBuffer(created, scheduler, new AbandonedCalls());
        return FutureMono.<ReactiveGpuExpertBuffer>ofResource(
                        "create", () -> GpuRun.elsewhere(creating).thenApply(wrapper), scheduler)
                .doOnDiscard(ReactiveGpuExpertBuffer.class, unwanted -> unwanted.buffer.closeAsync());
    }

    /**
     * Returns a wrapper that signals on a scheduler, so that subscribers may block or take long.
     *
     * @param completions the scheduler that signals results, completions and errors
     * @return a new wrapper; this one is unchanged
     */
    public ReactiveGpuExpertBuffer withScheduler(Scheduler completions) {
        return new ReactiveGpuExpertBuffer(buffer, Objects.requireNonNull(completions, "completions"), abandoned);
    }

    /**
     * Returns the wrapped buffer, which prepares calls and graphs, and tells options, stream and metrics.
     *
     * @return the buffer
     */
    public GpuExpertBuffer buffer() {
        return buffer;
    }

    private <C> Mono<C> run(String name, C what, Function<SignalCallback, SignalWait> waits, LongSupplier start) {
        return signalled(FutureMono.ofCall(name, () -> GpuRun.of(what, waits, start), abandoned));
    }

    /**
     * Runs a low-latency call in whole, once for each subscriber.
     *
     * @param <C> dispatch or combine
     * @param call prepared by {@link #buffer()}
     * @return the call, when this rank's GPU is through with it
     */
    public <C extends GpuLowLatencyCall> Mono<C> run(C call) {
        return run("run", call, call::onReached, call::start);
    }

    /**
     * Runs the first half of a low-latency call: the sends.
     *
     * @param <C> dispatch or combine
     * @param call prepared by {@link #buffer()}
     * @return the call, when what is sent may change
     */
    public <C extends GpuLowLatencyCall> Mono<C> send(C call) {
        return run("send", call, call::onReached, call::startSend);
    }

    /**
     * Runs the second half of a low-latency call. Until then later calls of the other ranks may wait for this one.
     *
     * @param <C> dispatch or combine
     * @param call whose first half was run
     * @return the call, when this rank's GPU is through with it
     */
    public <C extends GpuLowLatencyCall> Mono<C> receive(C call) {
        return run("receive", call, call::onReached, call::startReceive);
    }

    /**
     * Runs a call of normal mode, once for each subscriber.
     *
     * @param <C> layout, dispatch or combine
     * @param call prepared by {@link #buffer()}
     * @return the call, when this rank's GPU is through with it
     */
    public <C extends GpuNormalCall> Mono<C> run(C call) {
        return run("run", call, call::onReached, call::start);
    }

    /**
     * Runs a graph of calls, once for each subscriber.
     *
     * @param graph made by {@link #buffer()}
     * @return the graph, when this rank's GPU is through with all of it
     */
    public Mono<GpuExpertGraph> run(GpuExpertGraph graph) {
        return run("run", graph, graph::onReached, graph::start);
    }

    /**
     * Closes the buffer; see {@link GpuExpertBuffer#closeAsync}. The team stays open.
     *
     * @return completes when nothing of it is left here
     */
    public Mono<Void> close() {
        return signalled(FutureMono.of("close", buffer::closeAsync));
    }

    /** Returns what the buffer is called. */
    @Override
    public String toString() {
        return "ReactiveGpuExpertBuffer[" + buffer + "]";
    }
}
