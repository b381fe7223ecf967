package io.sluice.experts.cuda;

import io.sluice.collectives.Team;
import io.sluice.cuda.GpuStream;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import io.sluice.experts.ExpertBufferClosedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A buffer and its modes. */
final class DefaultGpuExpertBuffer implements GpuExpertBuffer {
    private final BufferCore core;
    private final MemoryRegion window;
    private final boolean ownsStream;
    private final KernelModule kernels;
    private final @Nullable LowLatencyCalls lowLatency;
    private final List<GpuMode> modes;
    private final @Nullable NormalMode normalMode;
    private final OpenGraphs graphs = new OpenGraphs();
    private @Nullable CompletableFuture<Void> closed;

    DefaultGpuExpertBuffer(
            BufferCore core,
            MemoryRegion window,
            boolean ownsStream,
            KernelModule kernels,
            @Nullable LowLatencyCalls lowLatency,
            @Nullable NormalMode normalMode) {
        this.core = core;
        this.window = window;
        this.ownsStream = ownsStream;
        this.kernels = kernels;
        this.lowLatency = lowLatency;
        this.normalMode = normalMode;
        this.modes = Stream.<@Nullable GpuMode>of(lowLatency, normalMode)
                .flatMap(Stream::ofNullable)
                .toList();
    }

    @Override
    public GpuExpertOptions options() {
        return core.options();
    }

    @Override
    public Team team() {
        return core.team();
    }

    @Override
    public GpuExpertMetrics metrics() {
        return core.counters();
    }

    @Override
    public GpuStream stream() {
        return core.stream();
    }

    @Override
    public Set<Integer> proxied() {
        Proxy proxy = core.proxy();
        return proxy == null ? Set.of() : proxy.memory().numbers();
    }

    @Override
    public GpuLowLatency lowLatency() {
        LowLatencyCalls calls = lowLatency;
        if (calls == null) {
            throw new IllegalStateException(this + " was created without low-latency mode");
        }
        return calls;
    }

    @Override
    public GpuNormalMode normalMode() {
        NormalMode mode = normalMode;
        if (mode == null) {
            throw new IllegalStateException(this + " was created without normal mode");
        }
        return mode;
    }

    @Override
    public GpuExpertGraph.Builder graph() {
        return new GpuExpertGraph.Builder(graphs, core);
    }

    @Override
    public SignalWait onReached(SignalCallback callback) {
        return core.onReached(callback);
    }

    @Override
    public synchronized CompletableFuture<Void> closeAsync() {
        CompletableFuture<Void> closing = closed;
        if (closing == null) {
            core.words().end(new ExpertBufferClosedException(this + " is closed on this rank"));
            CompletableFuture<?> told = core.leaving().begin(core.rank());
            List<CompletableFuture<?>> parts = new ArrayList<>();
            parts.add(graphs.close());
            modes.forEach(mode -> parts.add(mode.close()));
            Proxy proxy = core.proxy();
            parts.add(
                    proxy == null
                            ? told.thenCompose(nothing -> closeShared())
                            // not on the loop
                            : CompletableFuture.allOf(told, proxy.close()).thenComposeAsync(nothing -> closeShared()));
            closing = CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new));
            closed = closing;
        }
        return closing.copy();
    }

    /** What the other ranks are told by. Each is given back, also if another cannot be. */
    private CompletableFuture<Void> closeShared() {
        List<CompletableFuture<?>> parts = new ArrayList<>();
        parts.add(kernels.close());
        if (ownsStream) {
            core.stream().close();
            parts.add(core.stream().released());
        }
        core.words().buffer().close();
        parts.add(core.words().buffer().released());
        CompletableFuture<?> detached = core.windows().closeAsync().handle((nothing, failed) -> null);
        parts.add(detached.thenCompose(nothing -> window.close()));
        Proxy proxy = core.proxy();
        if (proxy != null) {
            parts.add(detached.thenCompose(nothing -> proxy.memory().release()));
        }
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new));
    }

    @Override
    public String toString() {
        return "the expert buffer of " + core.team() + " on " + core.stream().device();
    }
}
