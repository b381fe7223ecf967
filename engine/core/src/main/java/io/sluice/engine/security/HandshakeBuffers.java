package io.sluice.engine.security;

import io.sluice.engine.transport.SecureStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.function.IntFunction;

/**
 * A pool of direct buffers that the sockets of an engine use until their peers have authenticated, so that strangers
 * allocate nothing. There are as many as were in use at once; after a failed allocation no memory is requested for a
 * while. Thread-safe; never used on the data path.
 */
public final class HandshakeBuffers {
    /** The size of each in bytes: the longest message of the bootstrap, or two records of TLS. */
    public static final int BYTES = 2 * SecureStream.RECORD_BYTES;

    // the platform collects garbage and waits half a second when it lacks memory: not for each stranger
    private static final long PAUSE_NANOS = 500_000_000L;

    private final int mostKept;
    private final IntFunction<ByteBuffer> maker;
    private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();
    private long made;
    private boolean failed;
    private long failedAt;

    /**
     * Has none yet.
     *
     * @param mostKept how many that are not in use are kept, at least 1
     */
    public HandshakeBuffers(int mostKept) {
        this(mostKept, ByteBuffer::allocateDirect);
    }

    HandshakeBuffers(int mostKept, IntFunction<ByteBuffer> maker) {
        this.mostKept = mostKept;
        this.maker = maker;
    }

    /**
     * Takes one, whose contents are of others' use.
     *
     * @return empty, of {@value #BYTES} bytes
     * @throws OutOfMemoryError if there is no memory for one more; at once, if that was so a moment ago
     */
    public ByteBuffer take() {
        synchronized (this) {
            ByteBuffer known = free.pollLast();
            if (known != null) {
                return known.clear();
            }
            if (failed && System.nanoTime() - failedAt < PAUSE_NANOS) {
                throw new OutOfMemoryError("no direct memory for handshakes; raise -XX:MaxDirectMemorySize");
            }
        }
        ByteBuffer fresh;
        try {
            fresh = maker.apply(BYTES);
        } catch (OutOfMemoryError e) {
            synchronized (this) {
                failed = true;
                failedAt = System.nanoTime();
            }
            throw e;
        }
        synchronized (this) {
            failed = false;
            made++;
        }
        return fresh;
    }

    /**
     * Returns one, which is not used from now on.
     *
     * @param buffer that was taken here; once
     */
    public synchronized void give(ByteBuffer buffer) {
        if (free.size() < mostKept) {
            free.addLast(buffer);
        }
    }

    /**
     * How many were ever made.
     *
     * @return the number, which does not grow while those there are suffice
     */
    public synchronized long made() {
        return made;
    }
}
