package io.sluice.experts.cuda;

import io.sluice.collectives.Team;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.MappedRegion;
import io.sluice.cuda.PinnedBuffer;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferPriority;
import io.sluice.experts.ExpertOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Forms buffers: takes what a rank needs, on all ranks or on none. */
final class GpuBufferFormation {
    private final Team team;
    private final String gpu;
    private final GpuExpertOptions options;
    private final @Nullable LowLatencyLayout lowLatency;
    private final BufferLayout layout;
    private final @Nullable NormalPlaces normal;
    // by rank; whose memory the GPU does not reach
    private final Map<Integer, ProxiedRank> proxied = new ConcurrentSkipListMap<>();
    private volatile @Nullable PinnedBuffer proxyBuffer;
    // undone if a rank has no buffer
    private final List<Runnable> taken = Collections.synchronizedList(new ArrayList<>());

    private GpuBufferFormation(Team team, String gpu, GpuExpertOptions options) {
        this.team = team;
        this.gpu = gpu;
        this.options = options;
        this.lowLatency =
                options.experts().hasLowLatency() ? new LowLatencyLayout(options.experts(), team.size()) : null;
        NormalPlaces sized =
                options.experts().hasNormalMode() ? new NormalPlaces(options.experts(), team.size(), 0) : null;
        this.layout = new BufferLayout(lowLatency == null ? 0 : lowLatency.bytes(), sized == null ? 0 : sized.bytes());
        this.normal = sized == null ? null : new NormalPlaces(options.experts(), team.size(), layout.normalOffset);
    }

    static CompletableFuture<GpuExpertBuffer> create(
            Team team, String gpu, @Nullable GpuStream stream, GpuExpertOptions options) {
        if (team.size() > BufferLayout.MOST_RANKS) {
            throw new IllegalArgumentException("an expert buffer on GPUs has at most %d ranks, not the %d of %s"
                    .formatted(BufferLayout.MOST_RANKS, team.size(), team));
        }
        options.experts().localExperts(team.size());
        return new GpuBufferFormation(team, gpu, options).create(stream);
    }

    private CompletableFuture<GpuExpertBuffer> create(@Nullable GpuStream given) {
        CompletableFuture<MemoryRegion> window = tried(
                () -> team.engine()
                        .allocate(layout.windowBytes, RegionOptions.readWrite().on(MemoryKind.CUDA, gpu)),
                MemoryRegion::close);
        CompletableFuture<ExpertWords> words = tried(
                () -> new ExpertWords(
                        team,
                        options.experts().localExperts(team.size()),
                        PinnedBuffer.allocate(gpu, BufferLayout.WORDS_BYTES)),
                made -> made.buffer().close());
        CompletableFuture<GpuStream> stream = given != null
                ? CompletableFuture.completedFuture(given)
                : tried(() -> GpuStream.create(gpu, TransferPriority.HIGH), GpuStream::close);
        CompletableFuture<KernelModule> kernels = loaded("buffer");
        LowLatencyLayout forLowLatency = lowLatency;
        CompletableFuture<@Nullable LowLatencyMemory> lowLatencyMemory =
                forLowLatency == null ? CompletableFuture.completedFuture(null) : lowLatencyMemory(forLowLatency);
        CompletableFuture<NormalMode.@Nullable Parts> normalParts = normalParts();
        CompletableFuture<Void> all = CompletableFuture.allOf(words, stream, kernels, lowLatencyMemory, normalParts);
        ExpertOptions experts = options.experts();
        return TeamRegion.map(
                        team,
                        gpu,
                        window,
                        all,
                        this::mirror,
                        (long) experts.experts() << Integer.SIZE | experts.hidden(),
                        (long) experts.maxTokensPerRank() << Integer.SIZE
                                | experts.topK() << 2
                                | (experts.hasLowLatency() ? 2 : 0)
                                | (experts.hasNormalMode() ? 1 : 0),
                        (long) options.blocks() << Integer.SIZE | options.normalBlocks())
                .thenApply(windows -> {
                    taken.add(windows::close);
                    BufferCore core = new BufferCore(
                            team,
                            options,
                            stream.join(),
                            words.join(),
                            windows,
                            layout,
                            kernels.join().kernel("sluice_experts_leave"),
                            proxyMemory());
                    Proxy proxy = core.proxy();
                    if (proxy != null) {
                        taken.add(proxy::abandon);
                    }
                    LowLatencyMemory memory = lowLatencyMemory.join();
                    LowLatencyCalls calls = memory == null ? null : new LowLatencyCalls(core, memory);
                    NormalMode.Parts parts = normalParts.join();
                    NormalMode normalMode = parts == null ? null : new NormalMode(core, parts);
                    GpuExpertBuffer made = new DefaultGpuExpertBuffer(
                            core, window.join(), given == null, kernels.join(), calls, normalMode);
                    words.join().watch();
                    return made;
                })
                .whenComplete((made, error) -> {
                    if (error != null) {
                        // also what is still being taken
                        all.whenComplete((nothing, ignored) -> {
                            taken.reversed().forEach(Runnable::run);
                            PinnedBuffer calls = proxyBuffer;
                            if (calls != null) {
                                calls.close();
                            }
                        });
                    }
                });
    }

    /** Memory of this rank's GPU in place of a window that kernels do not reach, if only low latency is asked for. */
    private CompletableFuture<MappedRegion> mirror(int rank, RemoteRegion window, MemoryNotAccessibleException why) {
        if (window.descriptor().kind() != MemoryKind.CUDA) {
            // shared by a rank that has failed to allocate its window
            return CompletableFuture.failedFuture(why);
        }
        LowLatencyLayout low = lowLatency;
        if (low == null || normal != null) {
            return CompletableFuture.failedFuture(new MemoryNotAccessibleException(
                    ("normal mode needs GPUs that reach each other's memory, and %s does not reach that of"
                                    + " rank %d of %s; the low-latency mode does without: create the buffer"
                                    + " with normalMode(false) (%s)")
                            .formatted(gpu, rank, team, why.getMessage())));
        }
        return tried(
                        () -> {
                            // that there are paths for both
                            window.path(MemoryKind.CUDA);
                            window.wordPath();
                            synchronized (proxied) {
                                if (proxyBuffer == null) {
                                    proxyBuffer = PinnedBuffer.allocate(gpu, ProxyMemory.bytes(low));
                                }
                            }
                            return team.engine()
                                    .allocate(
                                            layout.windowBytes,
                                            RegionOptions.local().on(MemoryKind.CUDA, gpu));
                        },
                        MemoryRegion::close)
                .thenCompose(mirror -> {
                    ProxiedRank made = new ProxiedRank(rank, window, mirror);
                    proxied.put(rank, made);
                    long word = layout.lowLatencyOffset + LowLatencyLayout.wordAt(0, team.rank());
                    return made.prepare((long) team.rank() * Long.BYTES, word)
                            .thenApply(nothing -> MappedRegion.of(mirror));
                });
    }

    private @Nullable ProxyMemory proxyMemory() {
        LowLatencyLayout low = lowLatency;
        PinnedBuffer buffer = proxyBuffer;
        return low == null || buffer == null ? null : new ProxyMemory(low, List.copyOf(proxied.values()), buffer);
    }

    private CompletableFuture<@Nullable LowLatencyMemory> lowLatencyMemory(LowLatencyLayout of) {
        List<CompletableFuture<LowLatencyResultMemory>> results = new ArrayList<>();
        for (int i = 0; i < LowLatencyLayout.RESULTS; i++) {
            int index = i;
            results.add(tried(
                    () -> new LowLatencyResultMemory(team.engine(), gpu, of, index), LowLatencyResultMemory::release));
        }
        CompletableFuture<KernelModule> kernels = loaded(LowLatencyKernels.SOURCE);
        return CompletableFuture.allOf(results.getFirst(), results.getLast(), kernels)
                .thenApply(nothing -> new LowLatencyMemory(
                        of, results.stream().map(CompletableFuture::join).toList(), kernels.join()));
    }

    /** What normal mode needs, or null without it. */
    private CompletableFuture<NormalMode.@Nullable Parts> normalParts() {
        NormalPlaces places = normal;
        if (places == null) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<PinnedBuffer> summaries =
                tried(() -> PinnedBuffer.allocate(gpu, NormalMode.summariesBytes(places)), PinnedBuffer::close);
        return loaded("normal_fp8", "normal")
                .thenCombine(summaries, (kernels, told) -> new NormalMode.Parts(places, kernels, told));
    }

    /** The kernels of a source file, or of the next if the GPU does not take those, compiled by a thread of their own. */
    private CompletableFuture<KernelModule> loaded(String... names) {
        CompletableFuture<KernelModule> loaded = new CompletableFuture<>();
        Thread.ofPlatform()
                .daemon()
                .name("sluice-gpu-experts-" + team.rank())
                .start(() -> tried(() -> KernelModule.load(gpu, names), KernelModule::close)
                        .whenComplete((made, error) -> {
                            if (error == null) {
                                loaded.complete(made);
                            } else {
                                loaded.completeExceptionally(error);
                            }
                        }));
        return loaded;
    }

    /** Takes something, and says how to give it back. */
    private <T> CompletableFuture<T> tried(Supplier<T> what, Consumer<T> undo) {
        try {
            T made = what.get();
            taken.add(() -> undo.accept(made));
            return CompletableFuture.completedFuture(made);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
