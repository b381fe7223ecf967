package io.sluice.jni;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Two connected sockets over the loopback. */
record SocketPair(int client, int server) implements AutoCloseable {
    static final byte[] LOOPBACK = {127, 0, 0, 1};
    static final byte[] LOOPBACK_IPV6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

    static SocketPair open() {
        return open(false);
    }

    static SocketPair open(boolean ipv6) {
        byte[] loopback = ipv6 ? LOOPBACK_IPV6 : LOOPBACK;
        int listener = check(Sockets.openStream(ipv6));
        int client = check(Sockets.openStream(ipv6));
        try {
            check(Sockets.bind(listener, loopback, 0, 0));
            check(Sockets.listen(listener, 4));
            int result = Sockets.connect(client, loopback, 0, check(Sockets.localPort(listener)));
            if (result != -Errno.EINPROGRESS) {
                check(result);
            }
            awaitReady(client, Epoll.WRITABLE);
            check(Sockets.connectResult(client));
            awaitReady(listener, Epoll.READABLE);
            return new SocketPair(client, check(Sockets.accept(listener)));
        } finally {
            check(Sockets.close(listener));
        }
    }

    /** Waits for one of the events and gives those that are there. */
    static int awaitReady(int fd, int events) {
        int epoll = check(Epoll.create());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(Epoll.RECORD_BYTES, 8);
            check(Epoll.add(epoll, fd, events, fd));
            if (check(Epoll.await(epoll, record.address(), 1, Patience.BOUND.toNanos())) != 1) {
                throw new IllegalStateException("nothing happened to " + fd + " in time");
            }
            return record.get(ValueLayout.JAVA_INT, Epoll.RECORD_EVENTS_OFFSET);
        } finally {
            check(Sockets.close(epoll));
        }
    }

    /** Gives a result that is not an error. */
    static int check(int result) {
        if (result < 0) {
            throw new IllegalStateException(new IOException(Errno.message(result)));
        }
        return result;
    }

    boolean peerSeesClient() {
        return Arrays.equals(Sockets.localAddress(client), Sockets.peerAddress(server));
    }

    @Override
    public void close() {
        check(Sockets.close(client));
        check(Sockets.close(server));
    }
}
