package io.sluice.jni;

import static io.sluice.jni.SocketPair.check;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SharedMemoryTest {
    private static final String NAME = "sluice shared memory test";
    private static final byte[] NAME_BYTES = NAME.getBytes(StandardCharsets.US_ASCII);
    private static final long BYTES = 3L << 20;

    @TempDir
    Path folder;

    private final List<MemorySegment> mapped = new ArrayList<>();
    private final List<Integer> opened = new ArrayList<>();

    @AfterEach
    void nothing_is_left_open() {
        mapped.forEach(segment -> check(SharedMemory.unmap(segment.address(), segment.byteSize())));
        opened.forEach(fd -> check(Sockets.close(fd)));
        assertThat(Descriptors.named(NAME)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void all_who_have_it_mapped_see_the_same_bytes(boolean prefault) throws IOException {
        int fd = create(prefault);
        MemorySegment owner = map(fd, true, prefault);
        MemorySegment reader = map(fd, false, prefault);

        assertThat(owner.address() % Memory.pageSize()).isZero();
        assertThat(reader.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        owner.fill((byte) 7);

        assertThat(reader.mismatch(owner)).isEqualTo(-1);
        assertThat(Descriptors.isClosedOnExec(fd)).isTrue();
        assertThat(Files.readString(Path.of("/proc/self/maps"))).contains("/memfd:" + NAME);
    }

    @Test
    void names_and_sizes_that_do_not_fit_are_errors() {
        assertThat(SharedMemory.create(new byte[201], BYTES, false, false)).isEqualTo(-Errno.EINVAL);
        assertThat(SharedMemory.create(null, BYTES, false, false)).isEqualTo(-Errno.EINVAL);
        assertThat(SharedMemory.create(new byte[] {'a', 0}, BYTES, false, false))
                .isEqualTo(-Errno.EINVAL);
        assertThat(SharedMemory.create("ä".getBytes(StandardCharsets.UTF_8), BYTES, false, false))
                .isEqualTo(-Errno.EINVAL);
        assertThat(SharedMemory.create(NAME_BYTES, 0, false, false)).isEqualTo(-Errno.EINVAL);
        assertThat(SharedMemory.create(NAME_BYTES, -1, false, true)).isEqualTo(-Errno.EINVAL);
        String longest = NAME + "x".repeat(200 - NAME.length());
        opened.add(check(SharedMemory.create(longest.getBytes(StandardCharsets.US_ASCII), BYTES, false, false)));
    }

    @Test
    void memory_that_is_short_is_an_error_and_leaves_nothing_behind() {
        assertThat(SharedMemory.create(NAME_BYTES, 1L << 55, false, true)).isEqualTo(-Errno.ENOMEM);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void the_size_of_sealed_memory_never_changes(boolean readOnly) throws IOException {
        int fd = create(false);
        assertThat(SharedMemory.seal(fd, readOnly)).isZero();
        assertThat(SharedMemory.seal(fd, readOnly)).isEqualTo(-Errno.EPERM);

        try (FileChannel file = Descriptors.openAgain(fd, StandardOpenOption.WRITE)) {
            assertThatThrownBy(() -> file.truncate(BYTES - 1)).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> file.write(ByteBuffer.allocate(1), BYTES)).isInstanceOf(IOException.class);
            assertThat(file.size()).isEqualTo(BYTES);
        }
        assertThat(SharedMemory.check(fd, BYTES, false)).isZero();
    }

    @Test
    void read_only_memory_is_written_by_its_owner_alone() throws IOException {
        int fd = create(false);
        MemorySegment owner = map(fd, true, false);
        check(SharedMemory.seal(fd, true));

        assertThat(SharedMemory.map(fd, BYTES, true, false)).isEqualTo(-Errno.EPERM);
        try (FileChannel again = Descriptors.openAgain(fd, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            assertThatThrownBy(() -> again.map(MapMode.READ_WRITE, 0, BYTES)).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> again.write(ByteBuffer.allocate(1), 0)).isInstanceOf(IOException.class);
            int number = Descriptors.named(NAME).stream()
                    .filter(other -> other != fd)
                    .findFirst()
                    .orElseThrow();
            assertThat(SharedMemory.map(number, BYTES, true, false)).isEqualTo(-Errno.EPERM);
        }
        MemorySegment reader = map(fd, false, true);
        owner.set(ValueLayout.JAVA_BYTE, BYTES - 1, (byte) 9);
        assertThat(reader.get(ValueLayout.JAVA_BYTE, BYTES - 1)).isEqualTo((byte) 9);
    }

    @Test
    void a_descriptor_that_may_only_be_read_gives_no_writable_mapping() throws IOException {
        int fd = create(false);
        try (FileChannel reader = Descriptors.openAgain(fd, StandardOpenOption.READ)) {
            assertThat(reader.size()).isEqualTo(BYTES);
            int number = Descriptors.named(NAME).stream()
                    .filter(other -> other != fd)
                    .findFirst()
                    .orElseThrow();
            assertThat(SharedMemory.map(number, BYTES, true, false)).isEqualTo(-Errno.EACCES);
            assertThat(SharedMemory.seal(number, false)).isEqualTo(-Errno.EPERM);
        }
    }

    @ParameterizedTest
    @CsvSource({"-1", "1", "-3145727", "4294967296"})
    void another_size_is_refused(long difference) {
        int fd = create(false);
        check(SharedMemory.seal(fd, false));
        assertThat(SharedMemory.check(fd, BYTES + difference, false)).isEqualTo(-Errno.ERANGE);
    }

    @Test
    void memory_that_is_not_sealed_is_refused() {
        assertThat(SharedMemory.check(create(true), BYTES, true)).isEqualTo(-Errno.EPERM);
    }

    @Test
    void what_is_no_shared_memory_is_refused() throws IOException {
        Path path = folder.resolve(NAME);
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate(1), BYTES - 1);
            int fd = Descriptors.named(path.toString()).getFirst();
            assertThat(SharedMemory.check(fd, BYTES, true)).isEqualTo(-Errno.EPERM);
        }
        List<Integer> before = Descriptors.named("pipe:");
        Pipe pipe = Pipe.open();
        List<Integer> ends = new ArrayList<>(Descriptors.named("pipe:"));
        ends.removeAll(before);
        assertThat(ends).isNotEmpty().allSatisfy(fd -> {
            assertThat(SharedMemory.check(fd, BYTES, true)).isEqualTo(-Errno.EPERM);
            // The end for reading may not be written to, and the other is nothing that can be sealed.
            assertThat(SharedMemory.seal(fd, false)).isIn(-Errno.EPERM, -Errno.EINVAL);
        });
        pipe.sink().close();
        pipe.source().close();
        int socket = check(Sockets.openStream(false));
        opened.add(socket);
        assertThat(SharedMemory.check(socket, BYTES, true)).isEqualTo(-Errno.EPERM);
    }

    @Test
    void huge_pages_are_refused_unless_they_are_allowed() {
        long page = SharedMemory.hugePageSize();
        assumeTrue(page != -Errno.ENOSYS, "skipped: this kernel has no huge pages");
        assertThat(page).isGreaterThan(Memory.pageSize());
        assertThat(Long.bitCount(page)).isOne();

        assertThat(SharedMemory.create(NAME_BYTES, page + 1, true, false)).isEqualTo(-Errno.EINVAL);
        int fd = check(SharedMemory.create(NAME_BYTES, 2 * page, true, false));
        opened.add(fd);
        assertThat(SharedMemory.check(fd, 2 * page, true)).isEqualTo(-Errno.EPERM);
        check(SharedMemory.seal(fd, false));
        assertThat(SharedMemory.check(fd, 2 * page, false)).isEqualTo(-Errno.EOPNOTSUPP);
        assertThat(SharedMemory.check(fd, 2 * page, true)).isZero();
        assertThat(SharedMemory.check(fd, page, true)).isEqualTo(-Errno.ERANGE);
    }

    @Test
    void huge_pages_can_be_used_where_there_are_any() {
        long page = SharedMemory.hugePageSize();
        assumeTrue(page > 0, "skipped: this kernel has no huge pages");
        // More than any machine has.
        assertThat(SharedMemory.create(NAME_BYTES, 1L << 50, true, true)).isEqualTo(-Errno.ENOSPC);
        int fd = SharedMemory.create(NAME_BYTES, page, true, true);
        assumeTrue(fd != -Errno.ENOSPC, "skipped: this machine has set no huge pages aside");
        opened.add(check(fd));
        MemorySegment segment = mapping(SharedMemory.map(fd, page, true, true), page);
        assertThat(segment.address() % page).isZero();
        segment.fill((byte) 1);
    }

    /** Asks the kernel, which reads for others and refuses what they may not touch. */
    @ParameterizedTest
    @ValueSource(longs = {1, 4096, 100_000})
    void the_pages_around_it_cannot_be_touched(long bytes) {
        long pages = (bytes + Memory.pageSize() - 1) / Memory.pageSize() * Memory.pageSize();
        int fd = check(SharedMemory.create(NAME_BYTES, bytes, false, false));
        opened.add(fd);
        long owner = mapping(SharedMemory.map(fd, bytes, true, true), bytes).address();
        long reader = mapping(SharedMemory.map(fd, bytes, false, false), bytes).address();

        for (long address : new long[] {owner, reader}) {
            assertThat(read(address - 1)).isEqualTo(-Errno.EFAULT);
            assertThat(read(address)).isEqualTo(1);
            assertThat(read(address + bytes - 1)).isEqualTo(1);
            assertThat(read(address + pages)).isEqualTo(-Errno.EFAULT);
        }
    }

    private long read(long address) {
        try (SocketPair pair = SocketPair.open()) {
            return Sockets.send(pair.client(), address, 1);
        }
    }

    @Test
    void what_was_not_mapped_cannot_be_unmapped() {
        assertThat(SharedMemory.unmap(1, 1)).isEqualTo(-Errno.EINVAL);
        assertThat(SharedMemory.unmap(0, BYTES)).isEqualTo(-Errno.EINVAL);
        assertThat(SharedMemory.unmap(16L * Memory.pageSize(), 0)).isEqualTo(-Errno.EINVAL);
    }

    @Test
    void descriptors_that_are_none_are_errors() {
        assertThat(SharedMemory.seal(-1, false)).isEqualTo(-Errno.EBADF);
        assertThat(SharedMemory.check(-1, BYTES, false)).isEqualTo(-Errno.EBADF);
        assertThat(SharedMemory.check(-1, 0, false)).isEqualTo(-Errno.EINVAL);
        assertThat(SharedMemory.map(-1, BYTES, false, false)).isEqualTo(-Errno.EBADF);
        assertThat(SharedMemory.map(create(false), 0, false, false)).isEqualTo(-Errno.EINVAL);
    }

    private int create(boolean prefault) {
        int fd = check(SharedMemory.create(NAME_BYTES, BYTES, false, prefault));
        opened.add(fd);
        return fd;
    }

    private MemorySegment map(int fd, boolean writable, boolean prefault) {
        return mapping(SharedMemory.map(fd, BYTES, writable, prefault), BYTES);
    }

    private MemorySegment mapping(long address, long bytes) {
        assertThat(address).isPositive();
        MemorySegment segment = MemorySegment.ofAddress(address).reinterpret(bytes);
        mapped.add(segment);
        return segment;
    }
}
