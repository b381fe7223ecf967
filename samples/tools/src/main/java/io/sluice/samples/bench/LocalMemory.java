package io.sluice.samples.bench;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * This side's region as the processor sees it. That of a GPU has an image in memory of the host, and goes from one to the other through
 * a part of the peer's region that nothing else uses, as the engine moves nothing within one process.
 */
final class LocalMemory implements AutoCloseable {
    /** Bytes that it needs in the peer's region besides those of the transfers. */
    static final long SCRATCH_BYTES = 4L << 20;

    private final MemoryRegion region;
    private final SideChannel side;
    private final long scratchOffset;
    private final MemorySegment image;
    private final @Nullable MemoryRegion staging;

    /**
     * Of a region.
     *
     * @param scratchOffset where the peer's region has room for {@link #SCRATCH_BYTES}, if the region is of a GPU
     * @param arena for the image
     */
    LocalMemory(TransferEngine engine, MemoryRegion region, SideChannel side, long scratchOffset, Arena arena) {
        this.region = region;
        this.side = side;
        this.scratchOffset = scratchOffset;
        boolean isHost = region.kind() == MemoryKind.HOST;
        this.image = isHost ? region.segment() : arena.allocate(region.length(), Long.BYTES);
        this.staging = isHost ? null : engine.allocate(SCRATCH_BYTES, RegionOptions.local());
    }

    /** To be filled before {@link #push}, or read after {@link #pull}. */
    MemorySegment image() {
        return image;
    }

    /** Makes the region hold what the image does. */
    void push() {
        if (staging != null) {
            for (long at = 0; at < image.byteSize(); at += SCRATCH_BYTES) {
                long bytes = Math.min(SCRATCH_BYTES, image.byteSize() - at);
                MemorySegment.copy(image, at, staging.segment(), 0, bytes);
                side.write(staging, 0, scratchOffset, bytes);
                side.read(region, at, scratchOffset, bytes);
            }
        }
    }

    /** Makes the image hold what the region does. */
    void pull() {
        if (staging != null) {
            for (long at = 0; at < image.byteSize(); at += SCRATCH_BYTES) {
                long bytes = Math.min(SCRATCH_BYTES, image.byteSize() - at);
                side.write(region, at, scratchOffset, bytes);
                side.read(staging, 0, scratchOffset, bytes);
                MemorySegment.copy(staging.segment(), 0, image, at, bytes);
            }
        }
    }

    @Override
    public void close() {
        if (staging != null) {
            Waiting.await(staging.close(), "giving memory back");
        }
    }
}
