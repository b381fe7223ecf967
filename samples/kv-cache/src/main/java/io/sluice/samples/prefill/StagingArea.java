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
 * Registered memory that pages are filled in and written from. It bounds what the prefill side holds, whatever the
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
    private final ArrayDeque<StagingBuffer> free = new ArrayDeque<>();
    private final ArrayDeque<MonoSink<StagingBuffer>> waiting = new ArrayDeque<>();

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
            area.free.addLast(new StagingBuffer(i * stride, i * stride + pagesBytes));
        }
        return area;
    }

    /** The memory of all buffers. */
    MemoryRegion region() {
        return region;
    }

    /** How many buffers there are. */
    int buffers() {
        return BUFFERS;
    }

    /** How many pages a buffer has room for. */
    int pagesPerBuffer() {
        return pagesPerBuffer;
    }

    /** A buffer, as soon as one is free; first come, first served. */
    Mono<StagingBuffer> acquire() {
        return Mono.<StagingBuffer>create(sink -> {
                    StagingBuffer buffer;
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
                .doOnDiscard(StagingBuffer.class, this::release);
    }

    /** Gives a buffer back. Nothing may touch it any more. */
    void release(StagingBuffer buffer) {
        @Nullable MonoSink<StagingBuffer> next;
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

    private void forget(MonoSink<StagingBuffer> sink) {
        synchronized (free) {
            waiting.remove(sink);
        }
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}
