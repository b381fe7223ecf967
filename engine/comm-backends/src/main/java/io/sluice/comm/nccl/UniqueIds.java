package io.sluice.comm.nccl;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ids of communicators, drawn before they are needed: the library opens a socket and starts a thread for each, and an offer is made on
 * a poller. Any thread.
 */
final class UniqueIds implements AutoCloseable {
    // an id that is never used keeps its thread
    private static final int AHEAD = 2;
    private static final Logger LOG = LoggerFactory.getLogger(UniqueIds.class);

    private final NcclLibrary library;
    private final ConcurrentLinkedQueue<byte[]> drawn = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private volatile boolean isClosed;

    /** Draws the first, which starts the library up. Blocks. */
    UniqueIds(NcclLibrary library) {
        this.library = library;
        drawn.add(library.uniqueId());
        this.thread = Thread.ofPlatform().daemon().name("sluice-nccl-ids").start(this::draw);
    }

    private void draw() {
        try {
            while (!isClosed) {
                if (drawn.size() < AHEAD) {
                    drawn.add(library.uniqueId());
                } else {
                    LockSupport.park(this);
                }
            }
        } catch (RuntimeException e) {
            LOG.warn("NCCL draws no ids ahead any more", e);
        }
    }

    /** The next one; where none is left, the caller draws it. */
    byte[] take() {
        byte[] next = drawn.poll();
        LockSupport.unpark(thread);
        return next == null ? library.uniqueId() : next;
    }

    @Override
    public void close() {
        isClosed = true;
        LockSupport.unpark(thread);
    }
}
