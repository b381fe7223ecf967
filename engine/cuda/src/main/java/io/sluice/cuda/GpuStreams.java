package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The streams of one GPU on one loop, so that a small copy does not wait behind a large one, and their pinned memory. On the loop's
 * thread.
 */
final class GpuStreams {
    private static final int COUNT = 4;
    private static final long LANE_BYTES = 64 + (long) StreamLane.MOST_REQUESTS * Long.BYTES;

    private final Gpu gpu;
    private final PinnedMemory pinned;
    private final PageTables tables;
    private final StreamLane[] lanes;

    private GpuStreams(Gpu gpu, PinnedMemory pinned, PageTables tables, StreamLane[] lanes) {
        this.gpu = gpu;
        this.pinned = pinned;
        this.tables = tables;
        this.lanes = lanes;
    }

    static GpuStreams open(Gpu gpu) {
        CudaDevice.makeCurrent(gpu.device());
        PinnedMemory pinned = new PinnedMemory(gpu.device(), COUNT * LANE_BYTES + PageTables.BYTES);
        List<Long> streams = new ArrayList<>();
        try {
            for (int i = 0; i < COUNT; i++) {
                streams.add(gpu.newStream());
            }
        } catch (CudaException e) {
            streams.forEach(CudaStream::destroy);
            pinned.close();
            throw e;
        }
        long tablesAt = COUNT * LANE_BYTES;
        PageTables tables =
                new PageTables(pinned.segment().asSlice(tablesAt, PageTables.BYTES), pinned.deviceAddress() + tablesAt);
        StreamLane[] lanes = new StreamLane[COUNT];
        for (int i = 0; i < COUNT; i++) {
            lanes[i] = new StreamLane(streams.get(i), pinned, i * LANE_BYTES, tables);
        }
        return new GpuStreams(gpu, pinned, tables, lanes);
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

    StreamLane[] lanes() {
        return lanes;
    }

    /** The one with the fewest bytes under way, or null if none has room. */
    @Nullable
    StreamLane idlest() {
        StreamLane idlest = null;
        for (StreamLane lane : lanes) {
            if (lane.room() > 0 && (idlest == null || lane.bytes() < idlest.bytes())) {
                idlest = lane;
            }
        }
        return idlest;
    }

    /** Gives all back, unless the GPU is still at work: then it may write to the pinned memory, which stays. */
    void close() {
        for (StreamLane lane : lanes) {
            if (lane.query() == CudaStream.NOT_READY) {
                return;
            }
        }
        for (StreamLane lane : lanes) {
            CudaStream.destroy(lane.stream());
        }
        pinned.close();
    }
}
