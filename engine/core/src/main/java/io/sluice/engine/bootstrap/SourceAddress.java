package io.sluice.engine.bootstrap;

import io.sluice.jni.Sockets;
import java.nio.ByteBuffer;

/** From where a socket comes, as far as shares go by it: an IPv4 address, or the first half of an IPv6 address. */
final class SourceAddress {
    /** The source of a socket whose peer has gone; equal to no address. */
    static final long UNKNOWN = -1;

    private static final int PORT_BYTES = 2;
    private static final int V4_BYTES = 4;
    private static final int MAPPED_PREFIX_BYTES = 12;
    private static final int MAPPED_MARK = 0xFFFF;

    private SourceAddress() {}

    static long of(int descriptor) {
        byte[] address = Sockets.peerAddress(descriptor);
        return address == null ? UNKNOWN : of(address);
    }

    /** The source of an address with its port. One IPv6 source is all addresses with the same first half. */
    static long of(byte[] addressAndPort) {
        ByteBuffer bytes = ByteBuffer.wrap(addressAndPort);
        if (addressAndPort.length == V4_BYTES + PORT_BYTES) {
            return Integer.toUnsignedLong(bytes.getInt());
        }
        boolean mapped = bytes.getLong(0) == 0 && bytes.getInt(Long.BYTES) == MAPPED_MARK;
        return mapped ? Integer.toUnsignedLong(bytes.getInt(MAPPED_PREFIX_BYTES)) : bytes.getLong(0);
    }
}
