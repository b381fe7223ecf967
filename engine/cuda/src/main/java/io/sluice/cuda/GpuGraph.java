package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaGraph;
import io.sluice.jni.CudaStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Works of a {@link GpuStream} as one CUDA graph: the kernels follow each other as if the works were submitted one after the other, but
 * the driver is called once, and the GPU begins each kernel sooner. Made once, and submitted again and again without an allocation. It
 * has the arguments that the works had when it was made. One thread of a stream submits at a time; all else is for any thread.
 */
public final class GpuGraph implements AutoCloseable {
    private final StreamSequence stream;
    private final MemorySegment record;
    private final int kernels;
    private final List<StreamUses> used;
    private final StreamUses uses;

    private GpuGraph(
            StreamSequence stream,
            long graph,
            long device,
            int kernels,
            List<GpuWork> works,
            List<StreamUses> modules) {
        this.stream = stream;
        this.kernels = kernels;
        uses = new StreamUses("a graph of " + stream.gpu(), () -> {
            CudaGraph.destroy(graph);
            modules.forEach(module -> module.life().release());
            CudaDevice.close(device);
        });
        uses.usedOn(stream);
        Set<StreamUses> all = new LinkedHashSet<>(List.of(uses));
        works.forEach(work -> all.addAll(work.used()));
        used = List.copyOf(all);
        record = Arena.ofAuto().allocate(CudaStream.REQUEST_BYTES, Long.BYTES);
        stream.prepare(record, 0, CudaStream.LAUNCH_GRAPH);
        record.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_SOURCE_OFFSET, graph);
    }

    /**
     * Makes a graph. The driver may take milliseconds, so not for a poller.
     *
     * @param works in their order, all of one stream; one may be there several times
     * @return the graph, to be closed
     * @throws IllegalArgumentException if there are no works, or they are of several streams
     * @throws GpuClosedException if the stream, or something that the works use, is closed
     * @throws CudaException if the driver refuses the graph
     */
    public static GpuGraph of(List<GpuWork> works) {
        if (works.isEmpty()) {
            throw new IllegalArgumentException("a graph has at least one work");
        }
        StreamSequence stream = works.getFirst().stream();
        long bytes = 0;
        for (GpuWork work : works) {
            if (work.stream() != stream) {
                throw new IllegalArgumentException("the works of a graph are of one stream");
            }
            work.used().forEach(StreamUses::ensureOpen);
            bytes += work.records().byteSize();
        }
        int kernels = Math.toIntExact(bytes / CudaStream.REQUEST_BYTES);
        stream.life().use();
        // a graph does not outlive the modules of its kernels
        List<StreamUses> held = new ArrayList<>();
        long device = 0;
        try (Arena arena = Arena.ofConfined()) {
            for (StreamUses module : modules(works)) {
                module.life().use();
                held.add(module);
            }
            device = UserDevice.open(stream.gpu());
            long graph = CudaException.check(
                    CudaGraph.create(device, records(works, arena.allocate(bytes, Long.BYTES)), kernels),
                    "cannot make a graph of " + kernels + " kernels on " + stream.gpu());
            return new GpuGraph(stream, graph, device, kernels, works, held);
        } catch (RuntimeException | Error e) {
            if (device > 0) {
                CudaDevice.close(device);
            }
            held.forEach(module -> module.life().release());
            throw e;
        } finally {
            stream.life().release();
            // the driver has read their arguments
            Reference.reachabilityFence(works);
        }
    }

    private static Set<StreamUses> modules(List<GpuWork> works) {
        Set<StreamUses> modules = new LinkedHashSet<>();
        works.forEach(work -> modules.addAll(work.modules()));
        return modules;
    }

    /** Puts the launches of all one behind the other, and returns where they are. */
    private static long records(List<GpuWork> works, MemorySegment memory) {
        long at = 0;
        for (GpuWork work : works) {
            MemorySegment each = work.records();
            MemorySegment.copy(each, 0, memory, at, each.byteSize());
            at += each.byteSize();
        }
        return memory.address();
    }

    /**
     * Returns how many kernels a submission launches.
     *
     * @return 1 or more
     */
    public int kernels() {
        return kernels;
    }

    /**
     * Gives the graph to the stream, as {@link GpuWork#submit} does for a work. It counts as so many launches as it has kernels, at most
     * {@link GpuWork#MOST_LAUNCHES}.
     *
     * @return its number in the stream
     * @throws GpuClosedException if this, the stream, or something that the works use, is closed. Nothing was launched
     * @throws io.sluice.engine.TooManyPendingException if more than {@link GpuWork#MOST_LAUNCHES} launches would be under way in the
     *     stream. Nothing was launched
     * @throws CudaException if the driver refuses the launch, as after an error that stays with the process
     * @throws IllegalStateException if two threads submit work of one stream at the same time, or the stream is being captured into a
     *     graph of the caller's, whose replays would store old numbers. Nothing was launched
     */
    public long submit() {
        return submit(true);
    }

    /**
     * Gives the graph to the stream as {@link #submit} does, without a number behind it: see {@link GpuWork#submitUnnumbered}.
     *
     * @return its number in the stream
     * @throws GpuClosedException as for {@link #submit}
     * @throws io.sluice.engine.TooManyPendingException as for {@link #submit}
     * @throws CudaException as for {@link #submit}
     * @throws IllegalStateException as for {@link #submit}
     */
    public long submitUnnumbered() {
        return submit(false);
    }

    private long submit(boolean isNumbered) {
        try {
            return stream.submit(record, 1, Math.min(kernels, GpuWork.MOST_LAUNCHES), isNumbered, used);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Refuses further submissions, and gives the graph back once those that were made are done; returns before that. */
    @Override
    public void close() {
        uses.close();
    }

    /**
     * Returns when the graph is given back.
     *
     * @return completes after {@link #close}
     */
    public CompletableFuture<Void> released() {
        return uses.released();
    }

    @Override
    public String toString() {
        return uses.life().what();
    }
}
