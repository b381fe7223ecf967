package io.sluice.engine.bootstrap;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.DatagramChannel;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** This machine's own addresses. */
public interface LocalNetwork {
    /** The addresses of the machine's name, or {@code null} for none. May block on the resolver. */
    @Nullable
    InetAddress addressOfName();

    /** The address from which this machine sends to another one, or {@code null} without a route. Sends nothing. */
    @Nullable
    InetAddress sourceTowards(InetAddress destination);

    /** The addresses of all interfaces that are up, in the order of the interfaces' indexes. */
    List<InetAddress> addresses();

    /** The one that the process runs in. */
    static LocalNetwork system() {
        return new LocalNetwork() {
            private static final int ANY_PORT = 9;

            @Override
            public @Nullable InetAddress addressOfName() {
                try {
                    return InetAddress.getLocalHost();
                } catch (UnknownHostException e) {
                    return null;
                }
            }

            @Override
            public @Nullable InetAddress sourceTowards(InetAddress destination) {
                StandardProtocolFamily family = destination instanceof Inet4Address
                        ? StandardProtocolFamily.INET
                        : StandardProtocolFamily.INET6;
                try (DatagramChannel socket = DatagramChannel.open(family)) {
                    socket.connect(new InetSocketAddress(destination, ANY_PORT));
                    return ((InetSocketAddress) socket.getLocalAddress()).getAddress();
                } catch (IOException | UnsupportedOperationException e) {
                    return null;
                }
            }

            @Override
            public List<InetAddress> addresses() {
                try {
                    return NetworkInterface.networkInterfaces()
                            .filter(LocalNetwork::isUp)
                            .sorted(Comparator.comparingInt(NetworkInterface::getIndex))
                            .flatMap(NetworkInterface::inetAddresses)
                            .toList();
                } catch (SocketException e) {
                    return List.of();
                }
            }
        };
    }

    private static boolean isUp(NetworkInterface device) {
        try {
            return device.isUp();
        } catch (SocketException e) {
            return false;
        }
    }
}
