package io.sluice.engine.control;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/** Whole frames that wait to be sent, in order. Confined to one event loop. */
final class FrameQueue {
    private static final int FRAME_OVERHEAD = 64;

    private final ArrayDeque<byte[]> frames = new ArrayDeque<>();
    private long bytes;
    private int sentOfFirst;

    void add(byte[] frame) {
        frames.addLast(frame);
        bytes += frame.length;
    }

    boolean isEmpty() {
        return frames.isEmpty();
    }

    /** The bytes that wait to be sent. */
    long bytes() {
        return bytes;
    }

    /** The queue's approximate memory. */
    long memory() {
        return bytes + (long) frames.size() * FRAME_OVERHEAD;
    }

    /** Copies from the beginning as much as there is room for. */
    void copyTo(ByteBuffer staging) {
        int skip = sentOfFirst;
        for (byte[] frame : frames) {
            int part = Math.min(staging.remaining(), frame.length - skip);
            staging.put(frame, skip, part);
            skip = 0;
            if (!staging.hasRemaining()) {
                break;
            }
        }
    }

    /** Removes bytes from the front that have been sent. */
    void sent(long count) {
        bytes -= count;
        long rest = count;
        while (rest > 0) {
            int remaining = frames.getFirst().length - sentOfFirst;
            if (rest < remaining) {
                sentOfFirst += (int) rest;
                break;
            }
            rest -= remaining;
            sentOfFirst = 0;
            frames.removeFirst();
        }
    }

    void clear() {
        frames.clear();
        bytes = 0;
        sentOfFirst = 0;
    }
}
