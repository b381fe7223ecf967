package io.sluice.cuda;

import io.sluice.jni.CudaStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The streams of one GPU on one loop, so that a small copy does not wait behind a large one, and their pinned memory. On the loop's
 * thread, and closed on one that may block.
 */
final class GpuStreams {
    private static final StreamLane[] NONE = {};

    /** How many carry what waits for nothing. */
    static final int COUNT = 8;

    /** How many carry what waits for events: each event has one for itself. */
    static final int ORDERED = 8;

    private static final long LOOK_NANOS = 20_000;
    private static final long LONGEST_BEGINNING_NANOS = 1_000_000_000;
    private static final long LANE_BYTES = 64 + (long) StreamLane.MOST_REQUESTS * Long.BYTES;

    private final Gpu gpu;
    private final PinnedMemory pinned;
    private final PageTables tables;
    private final StreamLane[] lanes;
    private volatile int failure;
    private boolean isUsed;

    private GpuStreams(Gpu gpu, PinnedMemory pinned, PageTables tables, StreamLane[] lanes) {
        this.gpu = gpu;
        this.pinned = pinned;
        this.tables = tables;
        this.lanes = lanes;
    }

    /** Makes them; on a thread that may block. */
    static GpuStreams open(Gpu gpu, int count) {
        PinnedMemory pinned = new PinnedMemory(gpu.device(), gpu.metrics(), count * LANE_BYTES + PageTables.BYTES);
        List<Long> streams = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                streams.add(gpu.newStream());
            }
        } catch (CudaException e) {
            streams.forEach(CudaStream::destroy);
            pinned.close();
            throw e;
        }
        long began = System.nanoTime();
        streams.forEach(stream -> awaitBeginning(stream, began));
        long tablesAt = count * LANE_BYTES;
        PageTables tables =
                new PageTables(pinned.segment().asSlice(tablesAt, PageTables.BYTES), pinned.deviceAddress() + tablesAt);
        WorkCounters counters = gpu.metrics().newCounters();
        StreamLane[] lanes = new StreamLane[count];
        for (int i = 0; i < count; i++) {
            lanes[i] = new StreamLane(streams.get(i), pinned, i * LANE_BYTES, tables, counters);
        }
        return new GpuStreams(gpu, pinned, tables, lanes);
    }

    /** A stream begins by clearing memory of its own, which is freed with it. */
    static void awaitBeginning(long stream, long began) {
        while (CudaStream.query(stream) == CudaStream.NOT_READY
                && System.nanoTime() - began < LONGEST_BEGINNING_NANOS) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    Gpu gpu() {
        return gpu;
    }

    PageTables tables() {
        return tables;
    }

    MemorySegment pinned() {
        return pinned.segment();
    }

    long pinnedAddress() {
        return pinned.deviceAddress();
    }

    /** Those of a GPU; none if it has no streams yet, or nothing was given to them. */
    static StreamLane[] lanes(@Nullable GpuStreams streams) {
        return streams == null || !streams.isUsed ? NONE : streams.lanes;
    }

    boolean has(StreamLane lane) {
        for (StreamLane each : lanes) {
            if (each.equals(lane)) {
                return true;
            }
        }
        return false;
    }

    /** One that is behind an event already, or else one that is free; null if none is, or that one has no room. */
    @Nullable
    StreamLane behind(long event) {
        isUsed = true;
        StreamLane free = null;
        for (StreamLane lane : lanes) {
            if (lane.isBehind(event)) {
                return lane.room() > 0 ? lane : null;
            }
            if (lane.isFree() && lane.room() > 0) {
                free = lane;
            }
        }
        return free;
    }

    /** They take nothing new; what they have ends as each lane's query allows. */
    void fail(int error) {
        failure = error;
        for (StreamLane lane : lanes) {
            lane.breakDown();
        }
    }

    /** Whether they have failed; any thread. */
    boolean hasFailed() {
        return failure != 0;
    }

    /** The driver's error, negated; 0 if they have not. */
    int failure() {
        return failure;
    }

    /**
     * The one with the fewest bytes under way, or null if none has room. One that has nothing of other owners comes first: what is for
     * one peer does not wait behind what is for another, so that the links to all of them are busy.
     */
    @Nullable
    StreamLane idlest(StreamLane.Owner owner) {
        isUsed = true;
        StreamLane idlest = null;
        boolean isShared = true;
        for (StreamLane lane : lanes) {
            if (lane.room() == 0) {
                continue;
            }
            boolean isOthers = lane.isOfAnother(owner);
            if (idlest == null || (isOthers == isShared ? lane.bytes() < idlest.bytes() : isShared)) {
                idlest = lane;
                isShared = isOthers;
            }
        }
        return idlest;
    }

    /** Whether they have work of other owners than this one. */
    boolean areSharedWith(StreamLane.Owner owner) {
        for (StreamLane lane : lanes) {
            if (lane.isOfAnother(owner)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Gives all back, once the GPU is done with it; if that takes too long it may still write to the pinned memory, which stays. The
     * loop uses them no more. Blocks, for as long as any kernel of this process runs on the GPU.
     */
    void close() {
        for (StreamLane lane : lanes) {
            if (!ReleaseThread.await(() -> !lane.isAtWork())) {
                gpu.keep();
                return;
            }
        }
        for (StreamLane lane : lanes) {
            CudaStream.destroy(lane.stream());
        }
        pinned.close();
    }
}
