package io.sluice.samples.prefill;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.samples.kvcache.PageSeal;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Registered memory that pages are filled in and written from. It bounds what the prefill side holds, for any
 * length of a request: who needs a buffer waits until the writes from another have ended. Any thread.
 */
final class StagingArea {
    /**
     * Large enough that what a write costs besides its bytes doesn't show, small enough to stay in a core's own cache.
     */
    private static final int BUFFER_BYTES = 512 << 10;

    /** So many that some are filled while others are written and acknowledged. */
    private static final int BUFFERS = 32;

    private static final int ALIGNMENT = 64;

    private final MemoryRegion region;
    private final int pagesPerBuffer;
    private final ArrayDeque<Buffer> free = new ArrayDeque<>();
    private final ArrayDeque<MonoSink<Buffer>> waiting = new ArrayDeque<>();

    private StagingArea(MemoryRegion region, int pagesPerBuffer) {
        this.region = region;
        this.pagesPerBuffer = pagesPerBuffer;
    }

    /** An area whose buffers hold at least one page of the given size. */
    static StagingArea allocate(ReactiveTransferEngine engine, int pageBytes) {
        int pages = Math.max(1, BUFFER_BYTES / pageBytes);
        long pagesBytes = (long) pages * pageBytes;
        long stride = aligned(pagesBytes + (long) pages * PageSeal.BYTES);
        StagingArea area = new StagingArea(engine.allocate(stride * BUFFERS, RegionOptions.local()), pages);
        for (int i = 0; i < BUFFERS; i++) {
            area.free.addLast(new Buffer(i * stride, i * stride + pagesBytes));
        }
        return area;
    }

    MemoryRegion region() {
        return region;
    }

    int buffers() {
        return BUFFERS;
    }

    int pagesPerBuffer() {
        return pagesPerBuffer;
    }

    /** A buffer, as soon as one is free; first come, first served. */
    Mono<Buffer> acquire() {
        return Mono.<Buffer>create(sink -> {
                    Buffer buffer;
                    synchronized (free) {
                        buffer = free.pollFirst();
                        if (buffer == null) {
                            waiting.addLast(sink);
                        }
                    }
                    if (buffer == null) {
                        sink.onCancel(() -> forget(sink));
                    } else {
                        sink.success(buffer);
                    }
                })
                .doOnDiscard(Buffer.class, this::release);
    }

    /** Gives a buffer back. Nothing may touch it any more. */
    void release(Buffer buffer) {
        @Nullable MonoSink<Buffer> next;
        synchronized (free) {
            next = waiting.pollFirst();
            if (next == null) {
                // The one used last is the likeliest to be in a cache still.
                free.addFirst(buffer);
            }
        }
        if (next != null) {
            next.success(buffer);
        }
    }

    private void forget(MonoSink<Buffer> sink) {
        synchronized (free) {
            waiting.remove(sink);
        }
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /**
     * A part of the staging area: room for some pages of one layer, and behind them their seals.
     *
     * @param pagesAt where the pages start, in bytes from the start of the area
     * @param sealsAt where the seals start
     */
    record Buffer(long pagesAt, long sealsAt) {}
}
