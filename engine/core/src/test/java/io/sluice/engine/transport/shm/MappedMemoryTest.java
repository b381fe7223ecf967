package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.SharedMemory;
import io.sluice.jni.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A write that carries a signal, on memory that is mapped: the signal belongs to bytes that are in place. */
class MappedMemoryTest {
    private static final int BYTES = 4096;
    private static final int LENGTH = 64;
    private static final int SIGNAL_AT = 8;

    private final RegionKeys keys = new RegionKeys(RegionKeys.Way.MAPPED, true, true, 1, BYTES, false, 0);
    private final RemoteFile file = mappedFile();
    private final ShmRemoteKey remote = new ShmRemoteKey(1, 2, 3, keys, BYTES);
    private final MemorySegment local = Arena.ofAuto().allocate(LENGTH).fill((byte) 7);

    MappedMemoryTest() {
        remote.bind(file);
    }

    private RemoteFile mappedFile() {
        int descriptor =
                (int) SharedMemory.create("mapped-memory-test".getBytes(StandardCharsets.US_ASCII), BYTES, false, true);
        assertThat(descriptor).isNotNegative();
        try {
            assertThat(SharedMemory.seal(descriptor, false)).isZero();
            return RemoteFile.map(descriptor, keys);
        } finally {
            Sockets.close(descriptor);
        }
    }

    @AfterEach
    void unmap() {
        assertThat(remote.tryLetGo()).isTrue();
        assertThat(file.closeIfUnused()).isTrue();
    }

    private static final class Write extends WorkRequest {
        Write(MemorySegment local, ShmRemoteKey remote, long remoteOffset) {
            describe(Opcode.WRITE, RegionMemory.host(local), null, 0, LENGTH, remote, remoteOffset);
            addSignal(remote, SIGNAL_AT, 1);
        }
    }

    private CompletionStatus write(MemorySegment from, long to) {
        return MappedMemory.execute(new Write(from, remote, to), LENGTH);
    }

    private long signal() {
        MemorySegment memory = remote.memory();
        assertThat(memory).isNotNull();
        return memory.get(ValueLayout.JAVA_LONG, SIGNAL_AT);
    }

    @Test
    void signalIsCarriedOutWithItsBytes() {
        assertThat(write(local, BYTES - LENGTH)).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(signal()).isOne();
        MemorySegment memory = remote.memory();
        assertThat(memory).isNotNull();
        assertThat(memory.asSlice(BYTES - LENGTH).mismatch(local)).isEqualTo(-1);
    }

    @Test
    void signalOfBytesThatLeaveTheRegionIsLeftAlone() {
        assertThat(write(local, BYTES - LENGTH + 1)).isEqualTo(CompletionStatus.OUT_OF_BOUNDS);
        assertThat(signal()).isZero();
    }

    @Test
    void signalOfBytesThatHaveGoneIsLeftAlone() {
        MemorySegment gone;
        try (Arena arena = Arena.ofShared()) {
            gone = arena.allocate(LENGTH);
        }
        assertThat(write(gone, 1024)).isEqualTo(CompletionStatus.LOCAL_MEMORY_FAULT);
        assertThat(signal()).isZero();
    }
}
