package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RemoteKey;
import java.nio.ByteBuffer;

/** The key of a peer's region: its address, and its key on each of the peer's rails. Confined to the loop. */
final class VerbsRemoteKey extends RemoteKey {
    private static final int MAX_RAILS = 16;
    private static final int ADAPTER_ATOMICS = 1;

    private final long address;
    private final boolean adapterAtomics;
    private final int[] keys;
    private boolean ended;

    private VerbsRemoteKey(long handle, RegionDescriptor descriptor, long address, boolean adapterAtomics, int[] keys) {
        super(handle, descriptor.key(), descriptor.epoch());
        this.address = address;
        this.adapterAtomics = adapterAtomics;
        this.keys = keys;
    }

    /** Encodes the keys of a region that the peer attaches, for the control channel. */
    static byte[] write(ExportedRegion region, RailRegistration registration) {
        int rails = registration.rails();
        ByteBuffer bytes = ByteBuffer.allocate(1 + 1 + 8 + 4 * rails)
                .put((byte) rails)
                .put((byte) (registration.hasAdapterAtomics() ? ADAPTER_ATOMICS : 0))
                .putLong(region.memory().address());
        for (int i = 0; i < rails; i++) {
            bytes.putInt(registration.remoteKey(i));
        }
        return bytes.array();
    }

    static VerbsRemoteKey read(long handle, RegionDescriptor descriptor, ByteBuffer bytes, int rails) {
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
        return new VerbsRemoteKey(handle, descriptor, address, (flags & ADAPTER_ATOMICS) != 0, keys);
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
        return adapterAtomics;
    }

    /** The peer has closed the region: its adapter would refuse requests and break the lane. */
    boolean hasEnded() {
        return ended;
    }

    void end() {
        ended = true;
    }
}
