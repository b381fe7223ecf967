package io.sluice.jni;

import static io.sluice.jni.SocketPair.awaitReady;
import static io.sluice.jni.SocketPair.check;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocalSocketsTest {
    /** Never mapped: below the lowest address that the kernel gives to a process. */
    private static final long UNMAPPED = 16;

    /** The name of the memory whose descriptors are sent, so that leaks can be counted. */
    private static final String NAME = "sluice local sockets test";

    private static final AtomicInteger NAMES = new AtomicInteger();

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment bytes = arena.allocate(64);
    private final MemorySegment descriptors = arena.allocate(4L * (LocalSockets.MAX_DESCRIPTORS + 1), 4);
    private final int memory = check(SharedMemory.create(NAME.getBytes(StandardCharsets.US_ASCII), 4096, false, false));
    private int client;
    private int server;

    @TempDir
    Path folder;

    @BeforeEach
    void connect() {
        byte[] name = abstractName();
        int listener = check(LocalSockets.listen(name));
        assertThat(LocalSockets.accept(listener)).isEqualTo(-Errno.EAGAIN);
        client = check(LocalSockets.connect(name));
        awaitReady(listener, Epoll.READABLE);
        server = check(LocalSockets.accept(listener));
        check(Sockets.close(listener));
        assertThat(LocalSockets.connect(name)).isEqualTo(-Errno.ECONNREFUSED);
    }

    @AfterEach
    void no_descriptor_has_leaked() {
        assertThat(Descriptors.named(NAME)).containsExactly(memory);
        for (int fd : new int[] {memory, client, server}) {
            if (fd >= 0) {
                check(Sockets.close(fd));
            }
        }
        arena.close();
    }

    @Test
    void messages_keep_their_boundaries() {
        assertThat(receive(64, 0)).isEqualTo(-Errno.EAGAIN);
        assertThat(send("first", 0)).isEqualTo(5);
        assertThat(send("second", 0)).isEqualTo(6);

        assertThat(receive(64, 0)).isEqualTo(5);
        assertThat(text(5)).isEqualTo("first");
        assertThat(receive(6, 0)).isEqualTo(6);
        assertThat(text(6)).isEqualTo("second");
        assertThat(receive(64, 0)).isEqualTo(-Errno.EAGAIN);
    }

    @Test
    void a_full_socket_takes_no_part_of_a_message() {
        int sent = 0;
        int result = send("a message", 0);
        while (result == 9) {
            sent++;
            assertThat(sent).isLessThan(1_000_000);
            result = send("a message", 0);
        }
        assertThat(result).isEqualTo(-Errno.EAGAIN);
        for (; sent > 0; sent--) {
            assertThat(receive(64, 0)).isEqualTo(9);
        }
        assertThat(receive(64, 0)).isEqualTo(-Errno.EAGAIN);
        assertThat(send("a message", 0)).isEqualTo(9);
    }

    @Test
    void a_message_larger_than_the_send_buffer_is_an_error() {
        check(Sockets.setSendBuffer(client, 16 * 1024));
        MemorySegment large = arena.allocate(1 << 20);
        assertThat(LocalSockets.send(client, large.address(), 1 << 20, 0, 0)).isEqualTo(-Errno.EMSGSIZE);
        assertThat(receive(64, 0)).isEqualTo(-Errno.EAGAIN);
    }

    @Test
    void the_end_of_the_stream_comes_after_the_last_message() {
        assertThat(send("last", 0)).isEqualTo(4);
        check(Sockets.close(client));
        client = -1;

        assertThat(receive(64, 0)).isEqualTo(4);
        assertThat(receive(64, 0)).isZero();
        assertThat(receive(64, 0)).isZero();
        assertThat(LocalSockets.send(server, bytes.address(), 1, 0, 0)).isEqualTo(-Errno.EPIPE);
    }

    @Test
    void a_shut_down_connection_ends_for_both() {
        check(Sockets.shutdown(client));
        assertThat(receive(64, 0)).isZero();
        assertThat(send("late", 0)).isEqualTo(-Errno.EPIPE);
    }

    @Test
    void a_peer_that_goes_without_having_received_all_is_told() {
        assertThat(send("unseen", 0)).isEqualTo(6);
        check(Sockets.close(server));
        server = -1;
        assertThat(LocalSockets.receive(client, bytes.address(), 64, 0, 0)).isEqualTo(-Errno.ECONNRESET);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, LocalSockets.MAX_DESCRIPTORS})
    void descriptors_come_with_their_message(int count) throws IOException {
        assertThat(send("with", count)).isEqualTo(4);
        descriptors.setAtIndex(ValueLayout.JAVA_INT, count, 1234);

        long result = receive(64, count);

        assertThat((int) result).isEqualTo(4);
        assertThat((int) (result >>> 32)).isEqualTo(count);
        assertThat(descriptors.getAtIndex(ValueLayout.JAVA_INT, count)).isEqualTo(1234);
        for (int i = 0; i < count; i++) {
            int received = descriptors.getAtIndex(ValueLayout.JAVA_INT, i);
            assertThat(received).isNotEqualTo(memory);
            assertThat(Descriptors.isClosedOnExec(received)).isTrue();
            check(Sockets.close(received));
        }
        assertThat(send("without", 0)).isEqualTo(7);
        assertThat(receive(64, count)).isEqualTo(7);
    }

    @Test
    void received_memory_is_the_sender_s() {
        check(SharedMemory.seal(memory, false));
        assertThat(send("memory", 1)).isEqualTo(6);
        assertThat(receive(64, 1)).isEqualTo(1L << 32 | 6);
        int received = descriptors.get(ValueLayout.JAVA_INT, 0);
        assertThat(SharedMemory.check(received, 4096, false)).isZero();

        MemorySegment there = mapped(memory);
        MemorySegment here = mapped(received);
        check(Sockets.close(received));
        there.set(ValueLayout.JAVA_LONG, 8, 42);
        assertThat(here.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(42);
        check(SharedMemory.unmap(there.address(), 4096));
        check(SharedMemory.unmap(here.address(), 4096));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, LocalSockets.MAX_DESCRIPTORS})
    void a_message_that_does_not_fit_is_lost_and_leaks_nothing(int count) {
        assertThat(send("too long", count)).isEqualTo(8);
        assertThat(receive(7, count)).isEqualTo(-Errno.EMSGSIZE);
        assertThat(send("too many", count)).isEqualTo(8);
        assertThat(receive(64, count - 1)).isEqualTo(-Errno.EMSGSIZE);
        assertThat(send("too many", count)).isEqualTo(8);
        assertThat(LocalSockets.receive(server, bytes.address(), 64, 0, 0)).isEqualTo(-Errno.EMSGSIZE);
        assertThat(send("both", count)).isEqualTo(4);
        assertThat(receive(1, 0)).isEqualTo(-Errno.EMSGSIZE);
        assertThat(Descriptors.named(NAME)).containsExactly(memory);

        assertThat(send("next", 0)).isEqualTo(4);
        assertThat(receive(64, 0)).isEqualTo(4);
    }

    @Test
    void an_unreceived_message_leaks_nothing() {
        assertThat(send("unseen", 100)).isEqualTo(6);
        check(Sockets.close(server));
        server = -1;
    }

    @Test
    void memory_that_is_not_mapped_is_an_error() {
        assertThat(LocalSockets.send(client, UNMAPPED, 8, 0, 0)).isEqualTo(-Errno.EFAULT);
        assertThat(send("lost", 3)).isEqualTo(4);
        assertThat(LocalSockets.receive(server, UNMAPPED, 8, descriptors.address(), 3))
                .isEqualTo(-Errno.EFAULT);
        assertThat(receive(64, 3)).isEqualTo(-Errno.EAGAIN);
    }

    @Test
    void lengths_and_counts_out_of_range_are_errors() {
        long from = bytes.address();
        long with = descriptors.address();
        int many = LocalSockets.MAX_DESCRIPTORS + 1;
        for (int length : new int[] {0, -1, Integer.MIN_VALUE}) {
            assertThat(LocalSockets.send(client, from, length, 0, 0)).isEqualTo(-Errno.EINVAL);
            assertThat(LocalSockets.receive(server, from, length, 0, 0)).isEqualTo(-Errno.EINVAL);
        }
        for (int count : new int[] {-1, many, Integer.MAX_VALUE}) {
            assertThat(LocalSockets.send(client, from, 1, with, count)).isEqualTo(-Errno.EINVAL);
            assertThat(LocalSockets.receive(server, from, 1, with, count)).isEqualTo(-Errno.EINVAL);
        }
        descriptors.set(ValueLayout.JAVA_INT, 0, -1);
        assertThat(LocalSockets.send(client, from, 1, with, 1)).isEqualTo(-Errno.EBADF);
        assertThat(receive(64, 1)).isEqualTo(-Errno.EAGAIN);
    }

    @Test
    void descriptors_that_are_no_such_sockets_are_errors() {
        assertThat(LocalSockets.accept(-1)).isEqualTo(-Errno.EBADF);
        assertThat(LocalSockets.accept(memory)).isEqualTo(-Errno.ENOTSOCK);
        assertThat(LocalSockets.accept(client)).isEqualTo(-Errno.EINVAL);
        assertThat(LocalSockets.send(memory, bytes.address(), 1, 0, 0)).isEqualTo(-Errno.ENOTSOCK);
        assertThat(LocalSockets.receive(memory, bytes.address(), 1, 0, 0)).isEqualTo(-Errno.ENOTSOCK);
        assertThat(LocalSockets.peer(memory)).isEqualTo(-Errno.ENOTSOCK);
        int unconnected = check(Sockets.openStream(false));
        assertThat(LocalSockets.peer(unconnected)).isEqualTo(-Errno.ENOTCONN);
        check(Sockets.close(unconnected));
    }

    @Test
    void a_path_is_its_owner_s_alone() throws IOException {
        Path path = folder.resolve("socket");
        byte[] address = path.toString().getBytes(StandardCharsets.UTF_8);
        assertThat(LocalSockets.connect(address)).isEqualTo(-Errno.ENOENT);
        int listener = check(LocalSockets.listen(address));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .isEqualTo("rw-------");
        assertThat(LocalSockets.listen(address)).isEqualTo(-Errno.EADDRINUSE);
        check(Sockets.close(check(LocalSockets.connect(address))));
        check(Sockets.close(listener));
        assertThat(LocalSockets.connect(address)).isEqualTo(-Errno.ECONNREFUSED);
        assertThat(LocalSockets.listen(address)).isEqualTo(-Errno.EADDRINUSE);
    }

    @Test
    void every_byte_of_an_abstract_name_counts() {
        byte[] longest = new byte[107];
        byte[] own = abstractName();
        System.arraycopy(own, 0, longest, 0, own.length);
        byte[] shorter = new byte[106];
        System.arraycopy(own, 0, shorter, 0, own.length);
        int listener = check(LocalSockets.listen(longest));
        assertThat(LocalSockets.connect(shorter)).isEqualTo(-Errno.ECONNREFUSED);
        int other = check(LocalSockets.listen(shorter));
        assertThat(LocalSockets.listen(longest)).isEqualTo(-Errno.EADDRINUSE);
        check(Sockets.close(check(LocalSockets.connect(longest))));
        check(Sockets.close(listener));
        check(Sockets.close(other));
    }

    @Test
    void addresses_that_are_none_are_errors() {
        List<Integer> before = Descriptors.named("socket:");
        for (byte[] address : new byte[][] {null, {}, new byte[108], {'a', 0, 'b'}, {'/', 0}}) {
            assertThat(LocalSockets.listen(address)).isEqualTo(-Errno.EINVAL);
            assertThat(LocalSockets.connect(address)).isEqualTo(-Errno.EINVAL);
        }
        byte[] nowhere = "/nonexistent/folder/socket".getBytes(StandardCharsets.US_ASCII);
        assertThat(LocalSockets.listen(nowhere)).isEqualTo(-Errno.ENOENT);
        assertThat(LocalSockets.connect(nowhere)).isEqualTo(-Errno.ENOENT);
        assertThat(Descriptors.named("socket:")).hasSameSizeAs(before);
    }

    @Test
    void a_full_backlog_is_an_error_and_not_a_wait() {
        byte[] name = abstractName();
        int listener = check(LocalSockets.listen(name));
        List<Integer> waiting = new ArrayList<>();
        int result = LocalSockets.connect(name);
        while (result >= 0 && waiting.size() < 64) {
            waiting.add(result);
            result = LocalSockets.connect(name);
        }
        assertThat(result).isEqualTo(-Errno.EAGAIN);
        assertThat(waiting).hasSizeGreaterThanOrEqualTo(16);
        waiting.forEach(fd -> check(Sockets.close(fd)));
        check(Sockets.close(listener));
    }

    @Test
    void the_kernel_tells_who_the_peer_is() {
        assertThat(LocalSockets.processId())
                .isEqualTo((int) ProcessHandle.current().pid());
        long expected = (long) LocalSockets.processId() << 32 | LocalSockets.userId();
        assertThat(LocalSockets.peer(client)).isEqualTo(expected);
        assertThat(LocalSockets.peer(server)).isEqualTo(expected);
        int process = LocalSockets.peerProcess(server);
        assertThat(process).isPositive();
        check(Sockets.close(process));
    }

    private static byte[] abstractName() {
        String name = "\0sluice " + ProcessHandle.current().pid() + " " + NAMES.incrementAndGet();
        return name.getBytes(StandardCharsets.US_ASCII);
    }

    /** Sends a text with a number of duplicates of the memory's descriptor. */
    private int send(String text, int count) {
        bytes.setString(0, text);
        IntStream.range(0, count).forEach(i -> descriptors.setAtIndex(ValueLayout.JAVA_INT, i, memory));
        return LocalSockets.send(client, bytes.address(), text.length(), descriptors.address(), count);
    }

    private long receive(int length, int maxDescriptors) {
        bytes.fill((byte) 0);
        return LocalSockets.receive(server, bytes.address(), length, descriptors.address(), maxDescriptors);
    }

    private String text(int length) {
        return new String(bytes.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
    }

    private static MemorySegment mapped(int fd) {
        long address = SharedMemory.map(fd, 4096, true, true);
        assertThat(address).isPositive();
        return MemorySegment.ofAddress(address).reinterpret(4096);
    }
}
