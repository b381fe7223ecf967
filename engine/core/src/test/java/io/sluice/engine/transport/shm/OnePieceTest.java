package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.WorkRequest.Opcode;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

/** Which requests of a batch are copied together. */
class OnePieceTest {
    private static final long CHUNK = 512;

    private final RegionMemory local = RegionMemory.host(Arena.ofAuto().allocate(64 << 10));
    private final RemoteKey remote = new RemoteKey(1, 2, 3);

    private static final class Request extends WorkRequest {
        Request(Opcode operation, RegionMemory local, long localOffset, RemoteKey remote, long remoteOffset) {
            describe(operation, local, null, localOffset, CHUNK, remote, remoteOffset);
        }

        Request signals(RemoteKey word) {
            addSignal(word, 0, 1);
            return this;
        }
    }

    private Request write(long localOffset, long remoteOffset) {
        return new Request(Opcode.WRITE, local, localOffset, remote, remoteOffset);
    }

    private static int inOnePiece(WorkRequest... batch) {
        return MappedMemory.inOnePiece(batch, 0, batch.length, Long.MAX_VALUE);
    }

    @Test
    void chunksThatFollowOneAnotherOnBothSidesAreOnePiece() {
        assertThat(inOnePiece(write(0, 4096))).isEqualTo(1);
        assertThat(inOnePiece(write(0, 4096), write(CHUNK, 4096 + CHUNK))).isEqualTo(2);
        assertThat(inOnePiece(write(0, 0), write(CHUNK, CHUNK), write(2 * CHUNK, 2 * CHUNK), write(0, 0)))
                .isEqualTo(3);
        WorkRequest[] reads = new WorkRequest[4];
        for (int i = 0; i < reads.length; i++) {
            reads[i] = new Request(Opcode.READ, local, i * CHUNK, remote, i * CHUNK);
        }
        assertThat(inOnePiece(reads)).isEqualTo(4);
        assertThat(MappedMemory.inOnePiece(reads, 1, 2, Long.MAX_VALUE)).isEqualTo(2);
    }

    @Test
    void aPieceEndsWhereEitherSideGoesElsewhere() {
        assertThat(inOnePiece(write(0, 0), write(CHUNK, CHUNK + 1))).isEqualTo(1);
        assertThat(inOnePiece(write(0, 0), write(CHUNK - 1, CHUNK))).isEqualTo(1);
        assertThat(inOnePiece(write(CHUNK, CHUNK), write(0, 0))).isEqualTo(1);
        assertThat(inOnePiece(write(0, 0), new Request(Opcode.WRITE, local, CHUNK, new RemoteKey(1, 2, 3), CHUNK)))
                .isEqualTo(1);
        RegionMemory other = RegionMemory.host(Arena.ofAuto().allocate(64 << 10));
        assertThat(inOnePiece(write(0, 0), new Request(Opcode.WRITE, other, CHUNK, remote, CHUNK)))
                .isEqualTo(1);
    }

    @Test
    void aSignalStandsAlone() {
        assertThat(inOnePiece(write(0, 0).signals(remote), write(CHUNK, CHUNK))).isEqualTo(1);
        assertThat(inOnePiece(write(0, 0), write(CHUNK, CHUNK).signals(remote))).isEqualTo(1);
    }

    @Test
    void aPieceIsNotMuchLongerThanWhatIsAskedFor() {
        WorkRequest[] batch = {write(0, 0), write(CHUNK, CHUNK), write(2 * CHUNK, 2 * CHUNK)};
        assertThat(MappedMemory.inOnePiece(batch, 0, 3, 1)).isEqualTo(1);
        assertThat(MappedMemory.inOnePiece(batch, 0, 3, CHUNK + 1)).isEqualTo(2);
        assertThat(MappedMemory.inOnePiece(batch, 0, 3, 2 * CHUNK)).isEqualTo(2);
    }
}
