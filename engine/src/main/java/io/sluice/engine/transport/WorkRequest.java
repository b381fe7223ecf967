package io.sluice.engine.transport;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One chunk of a transfer, as a transport sees it. The engine owns it, keeps the local region leased while the transport
 * has it, and uses it again after its completion. A transport neither changes nor keeps it beyond that.
 */
public abstract class WorkRequest {
    /** What a work request does. */
    public enum Operation {
        /** From local to remote memory. */
        WRITE,
        /** From remote to local memory. */
        READ
    }

    private Operation operation = Operation.WRITE;
    private MemorySegment local = MemorySegment.NULL;
    private long localOffset;
    private long length;
    private @Nullable RemoteKey remote;
    private long remoteOffset;

    /** For the engine's own subclass. */
    protected WorkRequest() {}

    /**
     * Fills the request in.
     *
     * @param what the operation
     * @param segment the local region's bytes
     * @param segmentOffset where the chunk begins in it
     * @param bytes how long it is
     * @param key the remote region
     * @param keyOffset where the chunk begins in it
     */
    protected final void describe(
            Operation what, MemorySegment segment, long segmentOffset, long bytes, RemoteKey key, long keyOffset) {
        operation = what;
        local = segment;
        localOffset = segmentOffset;
        length = bytes;
        remote = key;
        remoteOffset = keyOffset;
    }

    /** Lets go of what the request refers to, so that a pooled one keeps no region alive. */
    protected final void clear() {
        local = MemorySegment.NULL;
        remote = null;
    }

    /**
     * What to do.
     *
     * @return the operation
     */
    public final Operation operation() {
        return operation;
    }

    /**
     * The local region's bytes. Copies by Java code go through this segment, so that memory that was freed while it is
     * registered raises an exception and not a fault.
     *
     * @return the segment
     */
    public final MemorySegment local() {
        return local;
    }

    /**
     * Where the chunk begins in {@link #local()}.
     *
     * @return bytes
     */
    public final long localOffset() {
        return localOffset;
    }

    /**
     * The chunk's address, for the operating system or an adapter, which refuse a bad one.
     *
     * @return the virtual address
     */
    public final long localAddress() {
        return local.address() + localOffset;
    }

    /**
     * How many bytes to move.
     *
     * @return 0 or more
     */
    public final long length() {
        return length;
    }

    /**
     * The remote region.
     *
     * @return its key
     */
    public final RemoteKey remote() {
        RemoteKey key = remote;
        if (key == null) {
            throw new IllegalStateException("the work request is not in use");
        }
        return key;
    }

    /**
     * Where the chunk begins in the remote region or slice.
     *
     * @return bytes
     */
    public final long remoteOffset() {
        return remoteOffset;
    }
}
