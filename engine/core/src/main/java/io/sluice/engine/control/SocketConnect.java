package io.sluice.engine.control;

import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Begins a connect that does not block. */
public final class SocketConnect {
    private SocketConnect() {}

    /** The descriptor of a socket whose connect is under way, or a negative errno. */
    public static int begin(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        int descriptor = Sockets.openStream(host instanceof Inet6Address);
        if (descriptor < 0) {
            return descriptor;
        }
        if (host.isLoopbackAddress()) {
            // goes without it where it is not available
            Sockets.setUnpaced(descriptor);
        }
        int scope = host instanceof Inet6Address six ? six.getScopeId() : 0;
        int result = Sockets.connect(descriptor, host.getAddress(), scope, address.getPort());
        if (result < 0 && result != -Errno.EINPROGRESS) {
            Sockets.close(descriptor);
            return result;
        }
        return descriptor;
    }

    public static String describe(int result, InetSocketAddress address) {
        return "connecting to " + address + " failed: " + Errno.message(-result);
    }
}
