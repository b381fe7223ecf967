package io.sluice.jni;

import static io.sluice.jni.SocketPair.LOOPBACK;
import static io.sluice.jni.SocketPair.LOOPBACK_IPV6;
import static io.sluice.jni.SocketPair.awaitReady;
import static io.sluice.jni.SocketPair.check;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SocketsTest {
    /** Never mapped: below the lowest address that the kernel gives to a process. */
    private static final long UNMAPPED = 16;

    private static final int SIZE = 3 * 1024 * 1024 + 17;

    @Test
    void bytes_survive_an_echo() {
        try (SocketPair pair = SocketPair.open();
                Arena arena = Arena.ofConfined()) {
            MemorySegment source = random(arena);
            MemorySegment there = arena.allocate(SIZE);
            MemorySegment back = arena.allocate(SIZE);

            move(pair.client(), source, pair.server(), there);
            move(pair.server(), there, pair.client(), back);

            assertThat(source.mismatch(there)).isEqualTo(-1);
            assertThat(source.mismatch(back)).isEqualTo(-1);
        }
    }

    @Test
    void vectors_gather_and_scatter() {
        try (SocketPair pair = SocketPair.open();
                Arena arena = Arena.ofConfined()) {
            MemorySegment source = random(arena).asSlice(0, 1000);
            MemorySegment target = arena.allocate(1000);
            MemorySegment gathered = vector(
                    arena, source.asSlice(0, 1), source.asSlice(1, 0), source.asSlice(1, 699), source.asSlice(700));
            MemorySegment scattered = vector(arena, target.asSlice(0, 500), target.asSlice(500, 500));

            assertThat(Sockets.sendVector(pair.client(), gathered.address(), 4)).isEqualTo(1000);
            awaitReady(pair.server(), Epoll.READABLE);
            assertThat(Sockets.receiveVector(pair.server(), scattered.address(), 2))
                    .isEqualTo(1000);

            assertThat(source.mismatch(target)).isEqualTo(-1);
            assertThat(Sockets.receiveVector(pair.server(), scattered.address(), 2))
                    .isEqualTo(-Errno.EAGAIN);
        }
    }

    @Test
    void a_vector_outside_its_bounds_is_refused() {
        try (SocketPair pair = SocketPair.open();
                Arena arena = Arena.ofConfined()) {
            MemorySegment vector = arena.allocate(16L * 1025, 8);

            assertThat(Sockets.sendVector(pair.client(), vector.address(), 0)).isZero();
            assertThat(Sockets.sendVector(pair.client(), vector.address(), -1)).isEqualTo(-Errno.EINVAL);
            assertThat(Sockets.sendVector(pair.client(), vector.address(), 1025))
                    .isEqualTo(-Errno.EMSGSIZE);
            assertThat(Sockets.receiveVector(pair.client(), vector.address(), 0))
                    .isEqualTo(-Errno.EINVAL);
            assertThat(Sockets.receiveVector(pair.client(), vector.address(), 1025))
                    .isEqualTo(-Errno.EMSGSIZE);
        }
    }

    @Test
    void memory_that_is_not_mapped_is_an_error_and_no_crash() {
        try (SocketPair pair = SocketPair.open();
                Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(8);
            assertThat(Sockets.send(pair.client(), bytes.address(), 8)).isEqualTo(8);
            awaitReady(pair.server(), Epoll.READABLE);
            MemorySegment vector =
                    vector(arena, MemorySegment.ofAddress(UNMAPPED).reinterpret(8));

            assertThat(Sockets.receive(pair.server(), UNMAPPED, 8)).isEqualTo(-Errno.EFAULT);
            assertThat(Sockets.receiveVector(pair.server(), vector.address(), 1))
                    .isEqualTo(-Errno.EFAULT);
            assertThat(Sockets.receiveVector(pair.server(), UNMAPPED, 1)).isEqualTo(-Errno.EFAULT);
            assertThat(Sockets.send(pair.server(), UNMAPPED, 8)).isEqualTo(-Errno.EFAULT);
            assertThat(Sockets.sendVector(pair.server(), vector.address(), 1)).isEqualTo(-Errno.EFAULT);

            assertThat(Sockets.receive(pair.server(), bytes.address(), 8)).isEqualTo(8);
        }
    }

    @Test
    void lengths_that_make_no_sense_are_refused() {
        try (SocketPair pair = SocketPair.open();
                Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(8).address();

            assertThat(Sockets.send(pair.client(), address, -1)).isEqualTo(-Errno.EINVAL);
            assertThat(Sockets.receive(pair.client(), address, -1)).isEqualTo(-Errno.EINVAL);
            assertThat(Sockets.receive(pair.client(), address, 0)).isEqualTo(-Errno.EINVAL);
        }
    }

    @Test
    void the_end_of_a_stream_is_zero_and_sending_into_it_an_error() {
        try (SocketPair pair = SocketPair.open();
                Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(8).address();
            assertThat(Sockets.receive(pair.server(), address, 8)).isEqualTo(-Errno.EAGAIN);

            assertThat(Sockets.shutdown(pair.client())).isZero();

            int events = awaitReady(pair.server(), Epoll.READABLE | Epoll.PEER_CLOSED);
            assertThat(events & Epoll.PEER_CLOSED).isNotZero();
            assertThat(Sockets.receive(pair.server(), address, 8)).isZero();
            assertThat(Sockets.send(pair.client(), address, 8)).isEqualTo(-Errno.EPIPE);
        }
    }

    @Test
    void a_refused_connection_is_told() {
        int holder = check(Sockets.openStream(false));
        int client = check(Sockets.openStream(false));
        try {
            // Bound but not listening: so no other socket can listen there meanwhile.
            check(Sockets.bind(holder, LOOPBACK, 0, 0));
            int result = Sockets.connect(client, LOOPBACK, 0, check(Sockets.localPort(holder)));
            if (result == -Errno.EINPROGRESS) {
                int events = awaitReady(client, Epoll.WRITABLE);
                assertThat(events & Epoll.ERROR).isNotZero();
                result = Sockets.connectResult(client);
            }
            assertThat(result).isEqualTo(-Errno.ECONNREFUSED);
        } finally {
            check(Sockets.close(client));
            check(Sockets.close(holder));
        }
    }

    @Test
    void a_port_in_use_is_told() {
        int first = check(Sockets.openStream(false));
        int second = check(Sockets.openStream(false));
        try {
            check(Sockets.bind(first, LOOPBACK, 0, 0));
            check(Sockets.listen(first, 1));
            assertThat(Sockets.bind(second, LOOPBACK, 0, Sockets.localPort(first)))
                    .isEqualTo(-Errno.EADDRINUSE);
            assertThat(Sockets.accept(first)).isEqualTo(-Errno.EAGAIN);
        } finally {
            check(Sockets.close(second));
            check(Sockets.close(first));
        }
    }

    @Test
    void addresses_and_ports_are_checked() {
        int fd = check(Sockets.openStream(false));
        try {
            assertThat(Sockets.bind(fd, new byte[0], 0, 0)).isEqualTo(-Errno.EINVAL);
            assertThat(Sockets.bind(fd, new byte[5], 0, 0)).isEqualTo(-Errno.EINVAL);
            assertThat(Sockets.bind(fd, new byte[17], 0, 0)).isEqualTo(-Errno.EINVAL);
            assertThat(Sockets.bind(fd, null, 0, 0)).isEqualTo(-Errno.EINVAL);
            assertThat(Sockets.bind(fd, LOOPBACK, 0, 65536)).isEqualTo(-Errno.EINVAL);
            assertThat(Sockets.connect(fd, null, 0, 1)).isEqualTo(-Errno.EINVAL);
            assertThat(Sockets.connect(fd, LOOPBACK_IPV6, 0, 1)).isEqualTo(-Errno.EAFNOSUPPORT);
            assertThat(Sockets.peerAddress(fd)).isNull();
            assertThat(Sockets.localAddress(-1)).isNull();
            assertThat(Sockets.localPort(-1)).isEqualTo(-Errno.EBADF);
            assertThat(Sockets.shutdown(fd)).isEqualTo(-Errno.ENOTCONN);
        } finally {
            check(Sockets.close(fd));
        }
    }

    @Test
    void both_ends_tell_the_same_address() {
        try (SocketPair pair = SocketPair.open()) {
            int port = Sockets.localPort(pair.client());
            assertThat(Sockets.localAddress(pair.client()))
                    .containsExactly(127, 0, 0, 1, port >>> 8, port)
                    .isEqualTo(Sockets.peerAddress(pair.server()));
        }
    }

    @Test
    void ipv6_works_where_the_machine_has_it() {
        int probe = Sockets.openStream(true);
        assumeTrue(probe >= 0, "skipped: the kernel has no IPv6");
        int bound = Sockets.bind(probe, LOOPBACK_IPV6, 0, 0);
        check(Sockets.close(probe));
        assumeTrue(bound == 0, "skipped: no IPv6 loopback");

        try (SocketPair pair = SocketPair.open(true)) {
            assertThat(Sockets.localAddress(pair.client())).hasSize(18).startsWith(LOOPBACK_IPV6);
            assertThat(pair.peerSeesClient()).isTrue();
        }
    }

    @Test
    void an_ipv6_socket_serves_ipv4_peers() {
        int listener = Sockets.openStream(true);
        assumeTrue(listener >= 0, "skipped: the kernel has no IPv6");
        int client = check(Sockets.openStream(false));
        try {
            assumeTrue(Sockets.bind(listener, new byte[16], 0, 0) == 0, "skipped: no IPv6 address");
            check(Sockets.listen(listener, 1));
            int result = Sockets.connect(client, LOOPBACK, 0, Sockets.localPort(listener));
            assertThat(result).isIn(0, -Errno.EINPROGRESS);
            awaitReady(listener, Epoll.READABLE);
            int server = check(Sockets.accept(listener));
            assertThat(Sockets.peerAddress(server))
                    .startsWith(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1)
                    .hasSize(18);
            check(Sockets.close(server));
        } finally {
            check(Sockets.close(client));
            check(Sockets.close(listener));
        }
    }

    @Test
    void options_are_accepted() {
        try (SocketPair pair = SocketPair.open()) {
            int fd = pair.client();
            assertThat(Sockets.setNoDelay(fd, true)).isZero();
            assertThat(Sockets.setUnpaced(fd)).isZero();
            assertThat(Sockets.setUnpaced(-1)).isEqualTo(-Errno.EBADF);
            assertThat(Sockets.setQuickAck(fd, true)).isZero();
            assertThat(Sockets.setKeepAlive(fd, true)).isZero();
            assertThat(Sockets.setSendBuffer(fd, 1 << 20)).isZero();
            assertThat(Sockets.setReceiveBuffer(fd, 1 << 20)).isZero();
            assertThat(Sockets.setUserTimeout(fd, 10_000)).isZero();
            assertThat(Sockets.setUserTimeout(fd, -1)).isEqualTo(-Errno.EINVAL);
            assertThat(Sockets.setNoDelay(-1, true)).isEqualTo(-Errno.EBADF);
        }
    }

    @Test
    void unacknowledged_bytes_pile_up_when_the_peer_does_not_read() {
        try (SocketPair pair = SocketPair.open();
                Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = random(arena);
            assertThat(Sockets.unacknowledgedBytes(pair.client())).isZero();
            // Small buffers on both ends, then more than they hold.
            check(Sockets.setSendBuffer(pair.client(), 16 * 1024));
            check(Sockets.setReceiveBuffer(pair.server(), 16 * 1024));
            long result;
            do {
                result = Sockets.send(pair.client(), bytes.address(), SIZE);
            } while (result > 0);
            assertThat(result).isEqualTo(-Errno.EAGAIN);
            assertThat(Sockets.unacknowledgedBytes(pair.client())).isPositive();
        }
    }

    private static MemorySegment random(Arena arena) {
        byte[] bytes = new byte[SIZE];
        new Random(42).nextBytes(bytes);
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }

    private static MemorySegment vector(Arena arena, MemorySegment... pieces) {
        MemorySegment vector = arena.allocate(16L * pieces.length, 8);
        for (int i = 0; i < pieces.length; i++) {
            vector.setAtIndex(ValueLayout.JAVA_LONG, 2L * i, pieces[i].address());
            vector.setAtIndex(ValueLayout.JAVA_LONG, 2L * i + 1, pieces[i].byteSize());
        }
        return vector;
    }

    private static void move(int from, MemorySegment source, int to, MemorySegment target) {
        long sent = 0;
        long received = 0;
        while (received < source.byteSize()) {
            if (sent < source.byteSize()) {
                long result = Sockets.send(from, source.address() + sent, source.byteSize() - sent);
                assertThat(result)
                        .satisfiesAnyOf(
                                bytes -> assertThat(bytes).isPositive(),
                                error -> assertThat(error).isEqualTo(-Errno.EAGAIN));
                sent += Math.max(result, 0);
            }
            awaitReady(to, Epoll.READABLE);
            long result = Sockets.receive(to, target.address() + received, target.byteSize() - received);
            assertThat(result).isPositive();
            received += result;
        }
    }
}
