package io.sluice.engine.transport.verbs;

import io.sluice.engine.RemoteRegion;
import io.sluice.engine.memory.ForgedRegions;
import io.sluice.engine.transport.RemoteKey;
import java.nio.ByteBuffer;

/** Keys that an adapter refuses: remote keys that it did not give, and addresses beyond a region. */
final class ForgedKeys {
    // the low byte of a key tells the uses of its place apart: with another one it is no region's
    private static final int LOW_BITS = 0x3c;

    private ForgedKeys() {}

    /** The same region of a peer with one rail, with a remote key that no region has. */
    static RemoteRegion withBadKey(RemoteRegion genuine) {
        return withBadKeys(genuine, 1);
    }

    /** The same region of a peer with several rails. */
    static RemoteRegion withBadKeys(RemoteRegion genuine, int rails) {
        return forged(genuine, rails, LOW_BITS, 0);
    }

    /** The same region of a peer with one rail, at a shifted address. */
    static RemoteRegion shifted(RemoteRegion genuine, long bytes) {
        return forged(genuine, 1, 0, bytes);
    }

    private static RemoteRegion forged(RemoteRegion genuine, int rails, int keyBits, long shift) {
        VerbsRemoteKey key = (VerbsRemoteKey) ForgedRegions.keyOf(genuine);
        ByteBuffer bytes = ByteBuffer.allocate(10 + 4 * rails)
                .put((byte) rails)
                .put((byte) (key.hasAdapterAtomics() ? 1 : 0))
                .putLong(key.address(shift));
        for (int i = 0; i < rails; i++) {
            bytes.putInt(key.key(i) ^ keyBits);
        }
        RemoteKey forged = VerbsRemoteKey.read(key.handle(), genuine.descriptor(), bytes.flip(), rails);
        return ForgedRegions.withKey(genuine, forged);
    }
}
