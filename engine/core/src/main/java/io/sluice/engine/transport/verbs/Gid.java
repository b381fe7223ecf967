package io.sluice.engine.transport.verbs;

import io.sluice.jni.VerbsDevice;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * An entry of a port's GID table.
 *
 * @param index its index in the table
 * @param bytes 16 bytes in network order
 * @param type one of the types such as {@link VerbsDevice#GID_ROCE_V2}
 */
record Gid(int index, byte[] bytes, int type) {
    static final int BYTES = 16;
    private static final byte[] IPV4_PREFIX = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (byte) 0xff, (byte) 0xff};

    boolean isEmpty() {
        return Arrays.equals(bytes, new byte[BYTES]);
    }

    private boolean isIpv4() {
        return Arrays.equals(bytes, 0, IPV4_PREFIX.length, IPV4_PREFIX, 0, IPV4_PREFIX.length);
    }

    private boolean isLinkLocal() {
        return bytes[0] == (byte) 0xfe && (bytes[1] & 0xc0) == 0x80;
    }

    /** Its rank for RoCE: v2 can be routed, and a network address is more likely to be routed than a link-local one. */
    int rank() {
        int rank = type == VerbsDevice.GID_ROCE_V2 ? 8 : 0;
        return rank + (isIpv4() ? 2 : isLinkLocal() ? 0 : 1);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Gid gid && index == gid.index && type == gid.type && Arrays.equals(bytes, gid.bytes);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(bytes) + index;
    }

    @Override
    public String toString() {
        return "GID " + index + " " + HexFormat.of().formatHex(bytes);
    }
}
