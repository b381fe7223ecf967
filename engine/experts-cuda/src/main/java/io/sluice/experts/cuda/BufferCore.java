package io.sluice.experts.cuda;

import io.sluice.collectives.Team;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.cuda.CudaException;
import io.sluice.cuda.GpuClosedException;
import io.sluice.cuda.GpuGraph;
import io.sluice.cuda.GpuKernel;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.KernelArguments;
import io.sluice.cuda.LaunchShape;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What all modes of a buffer share: the windows of the ranks, the stream, and the words. Any thread. */
final class BufferCore {
    private final Team team;
    private final GpuExpertOptions options;
    private final GpuStream stream;
    private final ExpertWords words;
    private final TeamRegion windows;
    private final BufferLayout layout;
    // struct buffer
    private final MemorySegment structure;
    private final Leaving leaving;
    private final GpuExpertCounters counters;
    private final @Nullable Proxy proxy;

    BufferCore(
            Team team,
            GpuExpertOptions options,
            GpuStream stream,
            ExpertWords words,
            TeamRegion windows,
            BufferLayout layout,
            GpuKernel leave,
            @Nullable ProxyMemory proxied) {
        this.team = team;
        this.options = options;
        this.stream = stream;
        this.words = words;
        this.windows = windows;
        this.layout = layout;
        this.structure = MemorySegment.ofArray(new long[(int) (BufferLayout.BUFFER.byteSize() / Long.BYTES)]);
        for (int rank = 0; rank < team.size(); rank++) {
            BufferLayout.putLong(structure, (long) rank * Long.BYTES, window(rank));
        }
        BufferLayout.putLong(structure, BufferLayout.BUFFER_STATE, window(team.rank()) + BufferLayout.STATE_OFFSET);
        BufferLayout.putLong(structure, BufferLayout.BUFFER_HOST, words.buffer().address());
        BufferLayout.putInt(structure, BufferLayout.BUFFER_RANK, team.rank());
        BufferLayout.putInt(structure, BufferLayout.BUFFER_RANKS, team.size());
        this.leaving = new Leaving(this, leave);
        this.counters = new GpuExpertCounters(team, stream, words);
        if (proxied == null) {
            this.proxy = null;
        } else {
            words.proxied(proxied.numbers());
            this.proxy = new Proxy(this, proxied, layout.lowLatencyOffset);
        }
    }

    Team team() {
        return team;
    }

    GpuExpertOptions options() {
        return options;
    }

    GpuStream stream() {
        return stream;
    }

    ExpertWords words() {
        return words;
    }

    GpuExpertCounters counters() {
        return counters;
    }

    TeamRegion windows() {
        return windows;
    }

    BufferLayout layout() {
        return layout;
    }

    int rank() {
        return team.rank();
    }

    int ranks() {
        return team.size();
    }

    int localExperts() {
        return options.experts().localExperts(team.size());
    }

    /** What carries to ranks whose memory this rank's GPU does not reach; null if it reaches all. */
    @Nullable
    Proxy proxy() {
        return proxy;
    }

    /** Where this rank's GPU finds a rank's window, or its mirror. */
    long window(int rank) {
        return windows.mapped(rank).address();
    }

    /** Sets the parameter {@code struct buffer} of a kernel. */
    void putBuffer(KernelArguments arguments, int index) {
        arguments.value(index).copyFrom(structure);
    }

    /** Begins work that reaches the windows of all ranks. */
    GpuWork.Builder work() {
        GpuWork.Builder work = stream.work().uses(words.buffer());
        if (proxy != null) {
            work.uses(proxy.memory().buffer());
        }
        for (int rank = 0; rank < team.size(); rank++) {
            work.uses(windows.mapped(rank));
        }
        return work;
    }

    /** How the other ranks are told that this one makes no more calls. */
    Leaving leaving() {
        return leaving;
    }

    /**
     * Makes the work that tells the other ranks that this one makes no more calls.
     *
     * @param lost the rank why
     * @return the work; null if all other ranks have closed their windows, and know it by that
     */
    @Nullable
    GpuWork leaving(GpuStream from, GpuKernel kernel, int lost) {
        GpuWork.Builder work = from.work();
        KernelArguments arguments = KernelArguments.of(BufferLayout.BUFFER, ValueLayout.JAVA_INT);
        putBuffer(arguments, 0);
        arguments.set(1, lost);
        boolean isNeeded = false;
        for (int rank = 0; rank < team.size(); rank++) {
            boolean isOpen = windows.mapped(rank).isOpen();
            if (rank != team.rank() && isOpen) {
                work.uses(windows.mapped(rank));
                isNeeded = true;
            } else if (!isOpen) {
                BufferLayout.putLong(arguments.value(0), (long) rank * Long.BYTES, 0);
            }
        }
        return isNeeded
                ? work.launch(kernel, LaunchShape.of(1, BufferLayout.MOST_RANKS), arguments)
                        .build()
                : null;
    }

    /** Throws why no call can succeed any more, if there is a reason. */
    void ensureUsable() {
        SluiceException failure = words.failure();
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Gives work of a call to the stream. Allocates nothing. A launch that the driver refuses ends the buffer on all ranks: those before it
     * are carried out, so that this rank has sent what it does not count.
     *
     * @return its number
     */
    long submit(GpuWork work, boolean isNumbered) {
        ensureUsable();
        try {
            return started(isNumbered || proxy != null ? work.submit() : work.submitUnnumbered());
        } catch (GpuClosedException | CudaException e) {
            throw refused(e);
        }
    }

    /** Gives a graph of calls to the stream, as {@link #submit(GpuWork, boolean)} does work of one. */
    long submit(GpuGraph graph, boolean isNumbered) {
        ensureUsable();
        try {
            return started(isNumbered || proxy != null ? graph.submit() : graph.submitUnnumbered());
        } catch (GpuClosedException | CudaException e) {
            throw refused(e);
        }
    }

    private long started(long number) {
        if (proxy != null) {
            proxy.started(number);
        }
        return number;
    }

    /** Returns why a launch was refused, or the error with which the buffer ends by that. */
    private SluiceException refused(SluiceException e) {
        if (e instanceof CudaException) {
            words.fail(e);
            return e;
        }
        for (int rank = 0; rank < team.size(); rank++) {
            if (rank != team.rank() && !windows.mapped(rank).isOpen()) {
                lose(rank, e);
                ensureUsable();
            }
        }
        return e;
    }

    /** Ends the buffer on this rank, as another is lost, and tells the others. */
    void lose(int rank, SluiceException why) {
        words.end(words.lost(Set.of(rank), why));
        leaving.begin(rank);
    }

    SignalWait onReached(SignalCallback callback) {
        return stream.onReached(team.loop(), (wait, number, error) -> {
            SluiceException failure = error == null ? words.failure() : error;
            callback.reached(wait, failure == null ? number : 0, failure);
        });
    }

    /** Checks a range of the user's memory: of this rank's GPU, and aligned. */
    void check(MemoryRegion region, long offset, long bytes, int alignment) {
        if (region.kind() != MemoryKind.CUDA
                || !stream.device().equals(region.memory().device())) {
            throw new MemoryNotAccessibleException(
                    "calls of an expert buffer on " + stream.device() + " use its memory, not " + region);
        }
        Objects.checkFromIndexSize(offset, bytes, region.length());
        if ((region.memory().address() + offset) % alignment != 0) {
            throw new IllegalArgumentException("the memory at offset " + offset + " of " + region
                    + " does not lie at a multiple of " + alignment + " bytes");
        }
    }
}
