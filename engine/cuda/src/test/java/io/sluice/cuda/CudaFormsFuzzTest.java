package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.SecretSource;
import io.sluice.fuzz.ParserFuzz;
import io.sluice.jni.CudaMemory;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Input of another process: its offer, and the keys of its regions. */
class CudaFormsFuzzTest {
    private static final long SLICE_BYTES = 4096;

    @Test
    void offers() {
        ParserFuzz.of("cuda-offer")
                .valid(
                        new CudaOffer("", new byte[SecretSource.BYTES]).toBytes(),
                        new CudaOffer(
                                        CudaOffer.meetingPoint(new byte[SecretSource.BYTES]),
                                        new byte[SecretSource.BYTES])
                                .toBytes())
                .refusesBy(ProtocolException.class)
                .run(input -> {
                    CudaOffer read = CudaOffer.read(input);
                    assertThat(read.secret()).hasSize(SecretSource.BYTES);
                    assertThat(read.meetingPoint()).matches("|sluice-cuda-[0-9a-f]{32}");
                });
    }

    private static byte[] keys(MemoryKeys.Way way, long allocationBytes, long start) {
        byte[] handle = new byte[way == MemoryKeys.Way.HANDLE ? CudaMemory.IPC_HANDLE_BYTES : 0];
        return new MemoryKeys(way, true, new UUID(1, 2), allocationBytes, start, "GPU-" + new UUID(3, 4), handle)
                .toBytes();
    }

    /** A slice lies within its allocation, and nothing of it is negative. */
    @Test
    void keys_of_regions() {
        ParserFuzz.of("cuda-region-keys")
                .valid(
                        keys(MemoryKeys.Way.NONE, SLICE_BYTES, 0),
                        keys(MemoryKeys.Way.DESCRIPTOR, 2 << 20, 4096),
                        keys(MemoryKeys.Way.HANDLE, Long.MAX_VALUE, Long.MAX_VALUE - SLICE_BYTES))
                .refusesBy(ProtocolException.class)
                .run(input -> {
                    MemoryKeys read = MemoryKeys.read(ByteBuffer.wrap(input), SLICE_BYTES);
                    assertThat(read.start()).isNotNegative();
                    assertThat(read.allocationBytes() - read.start()).isGreaterThanOrEqualTo(SLICE_BYTES);
                    assertThat(read.handle())
                            .hasSize(read.way() == MemoryKeys.Way.HANDLE ? CudaMemory.IPC_HANDLE_BYTES : 0);
                });
    }
}
