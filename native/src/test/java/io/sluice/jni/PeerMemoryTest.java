package io.sluice.jni;

import static io.sluice.jni.SocketPair.awaitReady;
import static io.sluice.jni.SocketPair.check;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PeerMemoryTest {
    /** Never mapped: below the lowest address that the kernel gives to a process. */
    private static final long UNMAPPED = 16;

    /** An address that belongs to no process. */
    private static final long KERNEL = 0xffff_8000_0000_0000L;

    private static final int BYTES = 1 << 20;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment records = arena.allocate((long) PeerMemory.RECORD_BYTES * 65, 8);
    private final MemorySegment local = arena.allocate(BYTES, 8);
    private Process child;
    private BufferedReader answers;
    private Writer questions;
    private int pid;
    private int process;
    private long address;

    @BeforeAll
    void start() throws IOException {
        ProcessBuilder builder = ChildJvm.toTalkTo(PeerMemoryMain.class);
        builder.command().add(Integer.toString(BYTES));
        child = builder.start();
        answers = child.inputReader();
        questions = child.outputWriter();
        pid = (int) child.pid();
        address = Long.parseLong(answers.readLine());
        process = check(PeerMemory.openProcess(pid));
        record(0, local.address(), address, 1);
        long result = read(1);
        assumeTrue(
                result != -Errno.EPERM && result != -Errno.ENOSYS,
                "skipped: this environment forbids process_vm_readv");
        assertThat(result).isOne();
    }

    @AfterAll
    void end() throws InterruptedException {
        child.destroyForcibly();
        assertThat(child.waitFor(Patience.BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
        if (process > 0) {
            check(Sockets.close(process));
        }
        arena.close();
    }

    @AfterEach
    void clear() {
        local.fill((byte) 0);
    }

    @Test
    void one_record_reads_all() {
        record(0, local.address(), address, BYTES);
        assertThat(read(1)).isEqualTo(BYTES);
        for (int i = 0; i < BYTES; i++) {
            if (local.get(ValueLayout.JAVA_BYTE, i) != PeerMemoryMain.content(i)) {
                assertThat(i).as("the first offset that differs").isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 63, PeerMemory.MAX_RECORDS})
    void a_batch_scatters_and_gathers(int count) {
        long total = 0;
        for (int i = 0; i < count; i++) {
            record(i, local.address() + 1000L * i, address + 4093L * i, i);
            total += i;
        }
        assertThat(read(count)).isEqualTo(total);
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < i; j++) {
                assertThat(local.get(ValueLayout.JAVA_BYTE, 1000L * i + j))
                        .isEqualTo(PeerMemoryMain.content(4093L * i + j));
            }
            assertThat(local.get(ValueLayout.JAVA_BYTE, 1000L * i + i)).isZero();
        }
    }

    @Test
    void what_is_written_is_there_for_the_peer() throws IOException {
        record(0, local.address(), address + 100, 1);
        record(1, local.address() + 8, address + 200_000, 2);
        record(2, local.address() + 16, address + 100, 2);
        local.set(ValueLayout.JAVA_BYTE, 0, (byte) 99);
        local.set(ValueLayout.JAVA_BYTE, 9, (byte) 98);
        local.set(ValueLayout.JAVA_BYTE, 16, (byte) 97);
        local.set(ValueLayout.JAVA_BYTE, 17, (byte) 96);

        assertThat(PeerMemory.write(process, pid, records.address(), 3)).isEqualTo(5);

        assertThat(asked(99)).isEqualTo(PeerMemoryMain.content(99));
        assertThat(asked(100)).isEqualTo((byte) 97);
        assertThat(asked(101)).isEqualTo((byte) 96);
        assertThat(asked(102)).isEqualTo(PeerMemoryMain.content(102));
        assertThat(asked(200_000)).isZero();
        assertThat(asked(200_001)).isEqualTo((byte) 98);
        // The memory that was read is unchanged.
        for (long offset : new long[] {100, 101, 200_000, 200_001}) {
            local.set(ValueLayout.JAVA_BYTE, 0, PeerMemoryMain.content(offset));
            record(0, local.address(), address + offset, 1);
            assertThat(PeerMemory.write(process, pid, records.address(), 1)).isOne();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {UNMAPPED, KERNEL, 0, -1})
    void an_address_that_is_none_ends_the_batch_there(long nowhere) {
        record(0, local.address(), address, 7);
        record(1, local.address(), nowhere, 8);
        record(2, local.address(), address, 9);
        assertThat(read(3)).isEqualTo(7);
        assertThat(PeerMemory.read(process, pid, records.address() + PeerMemory.RECORD_BYTES, 2))
                .isEqualTo(-Errno.EFAULT);
        assertThat(PeerMemory.write(process, pid, records.address() + PeerMemory.RECORD_BYTES, 2))
                .isEqualTo(-Errno.EFAULT);
        record(1, nowhere, address, 8);
        assertThat(read(3)).isEqualTo(7);
        assertThat(PeerMemory.read(process, pid, records.address() + PeerMemory.RECORD_BYTES, 2))
                .isEqualTo(-Errno.EFAULT);
    }

    @Test
    void a_batch_can_end_within_a_record() {
        long page = Memory.pageSize();
        long mapped = Memory.map(2 * page, true);
        check(Memory.unmap(mapped + page, page));
        int own = check(PeerMemory.openProcess(LocalSockets.processId()));
        MemorySegment.ofAddress(mapped).reinterpret(page).fill((byte) 5);
        record(0, local.address(), mapped, 10);
        record(1, local.address() + 10, mapped + page - 20, 100);
        assertThat(PeerMemory.read(own, LocalSockets.processId(), records.address(), 2))
                .isEqualTo(30);
        assertThat(local.asSlice(0, 30).toArray(ValueLayout.JAVA_BYTE)).containsOnly(5);
        check(Memory.unmap(mapped, page));
        check(Sockets.close(own));
    }

    @Test
    void counts_and_lengths_out_of_range_are_errors() {
        record(0, local.address(), address, 1);
        record(1, local.address(), address, -1);
        for (int count : new int[] {0, -1, 2, PeerMemory.MAX_RECORDS + 1, Integer.MAX_VALUE}) {
            assertThat(read(count)).isEqualTo(-Errno.EINVAL);
            assertThat(PeerMemory.write(process, pid, records.address(), count)).isEqualTo(-Errno.EINVAL);
        }
        record(0, local.address(), address, 0);
        assertThat(read(1)).isZero();
    }

    @Test
    void a_process_that_is_none_is_an_error() {
        assertThat(PeerMemory.openProcess(0)).isEqualTo(-Errno.EINVAL);
        assertThat(PeerMemory.openProcess(-1)).isEqualTo(-Errno.EINVAL);
        assertThat(PeerMemory.openProcess(Integer.MAX_VALUE)).isEqualTo(-Errno.ESRCH);
        assertThat(PeerMemory.isAlive(-1)).isEqualTo(-Errno.EBADF);
        record(0, local.address(), address, 1);
        assertThat(PeerMemory.read(-1, pid, records.address(), 1)).isEqualTo(-Errno.EBADF);
    }

    @Test
    void a_process_that_has_ended_is_never_taken_for_another() throws Exception {
        Process other = ChildJvm.toTalkTo(PeerMemoryMain.class).start();
        int ended = check(PeerMemory.openProcess((int) other.pid()));
        try {
            assertThat(Descriptors.isClosedOnExec(ended)).isTrue();
            other.destroyForcibly();
            awaitReady(ended, Epoll.READABLE);
            assertThat(PeerMemory.isAlive(ended)).isZero();
            assertThat(other.waitFor(Patience.BOUND.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(PeerMemory.isAlive(ended)).isZero();
            record(0, local.address(), address, 1);
            assertThat(PeerMemory.read(ended, (int) other.pid(), records.address(), 1))
                    .isEqualTo(-Errno.ESRCH);
            // As if the number had been given to another process.
            assertThat(PeerMemory.read(ended, pid, records.address(), 1)).isEqualTo(-Errno.ESRCH);
            assertThat(PeerMemory.write(ended, pid, records.address(), 1)).isEqualTo(-Errno.ESRCH);
            assertThat(PeerMemory.isAlive(process)).isOne();
        } finally {
            check(Sockets.close(ended));
        }
    }

    private void record(int index, long from, long peer, long length) {
        long at = (long) index * PeerMemory.RECORD_BYTES;
        records.set(ValueLayout.JAVA_LONG, at, from);
        records.set(ValueLayout.JAVA_LONG, at + 8, peer);
        records.set(ValueLayout.JAVA_LONG, at + 16, length);
    }

    private long read(int count) {
        return PeerMemory.read(process, pid, records.address(), count);
    }

    /** The peer's byte at an offset, as itself sees it. */
    private byte asked(long offset) throws IOException {
        questions.write(offset + "\n");
        questions.flush();
        return Byte.parseByte(answers.readLine());
    }
}
