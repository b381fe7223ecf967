package io.sluice.engine.transport.verbs;

import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RemoteKey;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The key of a peer's region: its address, and its key on each of the peer's rails. Confined to the loop. */
final class VerbsRemoteKey extends RemoteKey {
    private static final int MAX_RAILS = 16;
    private static final int ADAPTER_ATOMICS = 1;
    private static final int FLUSHED = 2;
    // the upper half of the flags is the rail
    private static final int HAS_NEAREST_RAIL = 4;
    private static final int RAIL_SHIFT = 4;
    private static final int NO_KEYS = 0;
    private static final int MOST_REASON_BYTES = 512;

    private final long address;
    private final int flags;
    private final int[] keys;
    private boolean ended;

    private VerbsRemoteKey(long handle, RegionDescriptor descriptor, long address, int flags, int[] keys) {
        super(handle, descriptor.key(), descriptor.epoch());
        this.address = address;
        this.flags = flags;
        this.keys = keys;
    }

    /** Encodes the keys of a region that the peer attaches, for the control channel. */
    static byte[] write(ExportedRegion region, RailRegistration registration) {
        int rails = registration.rails();
        int nearest = registration.nearestRail();
        ByteBuffer bytes = ByteBuffer.allocate(1 + 1 + 8 + 4 * rails)
                .put((byte) rails)
                .put((byte) ((registration.hasAdapterAtomics() ? ADAPTER_ATOMICS : 0)
                        | (registration.flush() != null ? FLUSHED : 0)
                        | (nearest < 0 ? 0 : HAS_NEAREST_RAIL | (nearest << RAIL_SHIFT))))
                .putLong(region.memory().address());
        for (int i = 0; i < rails; i++) {
            bytes.putInt(registration.remoteKey(i));
        }
        return bytes.array();
    }

    /** Encodes why the region has no keys. */
    static byte[] writeRefused(String reason) {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(text.length, MOST_REASON_BYTES);
        return ByteBuffer.allocate(1 + length)
                .put((byte) NO_KEYS)
                .put(text, 0, length)
                .array();
    }

    /**
     * Decodes either.
     *
     * @throws MemoryNotAccessibleException if there are no keys; the message is the peer's reason
     */
    static VerbsRemoteKey read(long handle, RegionDescriptor descriptor, ByteBuffer bytes, int rails) {
        if (rails > NO_KEYS && bytes.hasRemaining() && bytes.get(bytes.position()) == NO_KEYS) {
            byte[] text = new byte[Math.min(bytes.remaining() - 1, MOST_REASON_BYTES)];
            bytes.get(bytes.position() + 1, text);
            throw new MemoryNotAccessibleException(
                    new String(text, StandardCharsets.UTF_8).replaceAll("[^\\p{Print}]", "?"));
        }
        if (bytes.remaining() < 10 || rails > MAX_RAILS || bytes.get() != rails) {
            throw new ProtocolException("the peer sent malformed keys of an attached region");
        }
        int flags = bytes.get();
        long address = bytes.getLong();
        if (bytes.remaining() != 4 * rails || address + descriptor.length() < address) {
            throw new ProtocolException("the peer sent malformed keys of an attached region");
        }
        int[] keys = new int[rails];
        for (int i = 0; i < rails; i++) {
            keys[i] = bytes.getInt();
        }
        return new VerbsRemoteKey(handle, descriptor, address, flags, keys);
    }

    /** The peer's address of a byte of the region. */
    long address(long offset) {
        return address + offset;
    }

    int key(int rail) {
        return keys[rail];
    }

    /** Whether the region's atomic operations belong to the peer's adapter. */
    boolean hasAdapterAtomics() {
        return (flags & ADAPTER_ATOMICS) != 0;
    }

    /** Whether the peer must flush writes to the region before they are visible. */
    boolean isFlushed() {
        return (flags & FLUSHED) != 0;
    }

    /** The peer's rail that is nearest to the region's memory; −1 if it prefers none. */
    int nearestRail() {
        return (flags & HAS_NEAREST_RAIL) == 0 ? -1 : (flags >> RAIL_SHIFT) & (MAX_RAILS - 1);
    }

    /** The peer has closed the region: its adapter would refuse requests and break the lane. */
    boolean hasEnded() {
        return ended;
    }

    void end() {
        ended = true;
    }
}
