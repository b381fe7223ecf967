package io.sluice.engine.transport.shm;

import io.sluice.engine.AtomicDomain;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RegisteredMemory;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The regions of this engine that the peer accesses directly. Each is leased from its attachment until the peer has
 * confirmed that it no longer uses it, or has stopped. On the loop's thread.
 */
final class OwnRegions {
    // as many may be attached, and as many more may have been detached a moment ago
    private static final int TIMES_ATTACHED = 2;
    /** An allowance for regions that threads of the peer still use, even if few may be attached. */
    static final int MORE = 1024;

    private final EndpointContext context;
    private final PeerCapabilities peer;
    private final long most;
    private final Map<Long, Exported> exported = new HashMap<>();
    private final ArrayDeque<long[]> unanswered = new ArrayDeque<>();
    private boolean stopped;

    /**
     * Starts without regions.
     *
     * @param maxAttached the most regions that the peer may have attached
     */
    OwnRegions(EndpointContext context, int maxAttached, PeerCapabilities peer) {
        this.context = context;
        this.most = (long) TIMES_ATTACHED * maxAttached + MORE;
        this.peer = peer;
    }

    /** The capabilities of the peer. */
    interface PeerCapabilities {
        /** Whether it reaches memory by cross-memory attach. */
        boolean crossMemoryAttach();
    }

    private static final class Exported {
        private final ExportedRegion region;
        private final boolean byAddress;
        private final @Nullable SharedFile file;
        private boolean ended;

        Exported(ExportedRegion region, boolean byAddress, @Nullable SharedFile file) {
            this.region = region;
            this.byAddress = byAddress;
            this.file = file;
        }
    }

    /** Whether the peer may access a region directly. After it has stopped, no confirmation would end a lease. */
    boolean reach(ExportedRegion region) {
        RegisteredMemory registration = region.registration();
        return !stopped
                && (registration instanceof SharedFile.Registration
                        || (registration instanceof ForeignMemory && peer.crossMemoryAttach()));
    }

    /**
     * Returns the keys with which the peer reaches a region and leases the region; null if the region is closing.
     *
     * @param region a region that the peer {@linkplain #reach reaches}
     * @throws ProtocolException if the peer does not confirm the regions that it has detached
     */
    byte @Nullable [] keysOf(long handle, ExportedRegion region) {
        RegisteredMemory registration = region.registration();
        boolean processors = region.atomicDomain() == AtomicDomain.TARGET_CPU;
        RegionKeys keys;
        Exported leased;
        if (registration instanceof SharedFile.Registration(SharedFile file)) {
            long start = region.memory().address() - file.memory().address();
            keys = new RegionKeys(
                    RegionKeys.Way.MAPPED,
                    processors,
                    file.isWritable(),
                    file.number(),
                    file.fileBytes(),
                    file.hasHugePages(),
                    start);
            leased = new Exported(region, false, file);
        } else {
            keys = new RegionKeys(
                    RegionKeys.Way.CROSS_MEMORY,
                    processors,
                    true,
                    0,
                    0,
                    false,
                    region.memory().address());
            leased = new Exported(region, true, null);
        }
        if (exported.size() >= most) {
            throw new ProtocolException("the peer keeps attaching regions without confirming the detached ones");
        }
        // without a lease nothing would keep the memory, so the peer must not learn how to reach it
        if (!region.lease()) {
            return null;
        }
        exported.put(handle, leased);
        return keys.toBytes();
    }

    /** Ends an attachment; the lease ends when the peer confirms it. */
    void ended(long handle) {
        Exported region = exported.get(handle);
        if (region != null && !region.ended) {
            context.send(ShmMessage.of(ShmMessage.ENDED, handle));
            region.ended = true;
        }
    }

    /** The peer has confirmed that it no longer uses a region. */
    void released(long handle) {
        if (stopped) {
            // the end of the peer's socket came first and has ended the lease
            return;
        }
        Exported region = exported.get(handle);
        if (region == null || !region.ended) {
            throw new ProtocolException("the peer confirmed a region that it was not asked to release");
        }
        exported.remove(handle);
        region.region.release();
    }

    /** Whether the peer still uses a closing region. */
    boolean holdsClosedLease() {
        return exported.values().stream().anyMatch(region -> region.ended && !region.region.isOpen());
    }

    // ---- files ----

    void wanted(ByteBuffer handles) {
        if (stopped) {
            // the socket for the files is closed
            return;
        }
        int count = handles.remaining() / Long.BYTES;
        if (count < 1 || count > ShmMessage.MOST_FILES || handles.remaining() != count * Long.BYTES) {
            throw new ProtocolException("the peer sent a malformed request for region files");
        }
        if (!unanswered.isEmpty()) {
            throw new ProtocolException("the peer requested region files while an earlier request is unanswered");
        }
        long[] wanted = new long[count];
        for (int i = 0; i < count; i++) {
            wanted[i] = handles.getLong();
        }
        unanswered.addLast(wanted);
    }

    boolean owesFiles() {
        return !unanswered.isEmpty();
    }

    /** Sends the requested files if the socket has room. */
    void sendFiles(ShmPeerLink link) {
        long[] wanted = unanswered.peekFirst();
        if (wanted == null) {
            return;
        }
        ByteBuffer message =
                ByteBuffer.allocate(1 + wanted.length * (Long.BYTES + 1)).put(ShmMessage.FILES);
        int[] descriptors = new int[wanted.length];
        int count = 0;
        for (long handle : wanted) {
            Exported region = exported.get(handle);
            SharedFile file = region == null || region.ended ? null : region.file;
            message.putLong(handle).put((byte) (file == null ? 0 : 1));
            if (file != null) {
                descriptors[count++] = file.descriptor();
            }
        }
        if (link.send(message.flip(), Arrays.copyOf(descriptors, count))) {
            unanswered.removeFirst();
        }
    }

    // ---- the end ----

    /** The connection has ended: does not wait for mapped regions, since their memory is never reused. */
    void close() {
        exported.values().removeIf(region -> {
            if (!region.byAddress) {
                region.region.release();
            }
            return !region.byAddress;
        });
    }

    /** Whether the peer may still reach memory by address. */
    boolean isReachableByAddress() {
        return exported.values().stream().anyMatch(region -> region.byAddress);
    }

    void peerStopped() {
        stopped = true;
        unanswered.clear();
        exported.values().forEach(region -> region.region.release());
        exported.clear();
    }
}
