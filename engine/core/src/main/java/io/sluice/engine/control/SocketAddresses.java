package io.sluice.engine.control;

import io.sluice.jni.Sockets;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The remote address of a socket. */
final class SocketAddresses {
    private static final int PORT_BYTES = 2;

    private SocketAddresses() {}

    /** The peer's address, or null if the socket is not connected any more. */
    static @Nullable InetSocketAddress peer(int descriptor) {
        byte[] bytes = Sockets.peerAddress(descriptor);
        if (bytes == null) {
            return null;
        }
        int host = bytes.length - PORT_BYTES;
        int port = Byte.toUnsignedInt(bytes[host]) << 8 | Byte.toUnsignedInt(bytes[host + 1]);
        try {
            return new InetSocketAddress(InetAddress.getByAddress(Arrays.copyOf(bytes, host)), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes", e);
        }
    }
}
