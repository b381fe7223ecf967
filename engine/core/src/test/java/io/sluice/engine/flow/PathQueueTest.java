package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.PageLists;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The limits that a path's queue takes from its transport's capabilities and its endpoint. */
class PathQueueTest {
    private static final long MIB = 1 << 20;
    private static final RemoteKey LISTED = new RemoteKey(1, 0, 0);
    private static final RemoteKey OTHER = new RemoteKey(2, 0, 0);

    private static PathQueue queue(Capabilities capabilities, SteppedFlow.HeldRequests endpoint) {
        return new PathQueue(0, new FlowPath(0, capabilities, endpoint, ConnectionCounters.alone()), 1024 * MIB);
    }

    private static final class ListTaker extends SteppedFlow.HeldRequests implements PageLists {
        @Override
        public boolean takesPages(RemoteKey remote) {
            return remote.equals(LISTED);
        }
    }

    @Test
    void chunksAreAsLargeAsTheTransportPrefersForTheKindOfMemory() {
        PathQueue queue = queue(
                new Capabilities(1024 * MIB, true).withPreferredChunk(MemoryKind.CUDA, 64 * MIB),
                new SteppedFlow.HeldRequests());
        assertThat(queue.chunker(MemoryKind.CUDA).chunk(256 * MIB)).isEqualTo(64 * MIB);
        assertThat(queue.chunker(MemoryKind.HOST).chunk(256 * MIB)).isEqualTo(16 * MIB);
        assertThat(queue.chunker(MemoryKind.HOST).chunk(MIB)).isEqualTo(Capabilities.PREFERRED_CHUNK);
    }

    /** Memory of a GPU whose bytes are never read. */
    private enum CudaMemory implements LeasedMemory {
        INSTANCE;

        private static final RegionMemory NOTHING = RegionMemory.device(MemoryKind.CUDA, "GPU-0", MIB, MIB, () -> true);

        @Override
        public @Nullable RegisteredMemory registration(int transport) {
            return null;
        }

        @Override
        public boolean acquire() {
            return true;
        }

        @Override
        public void release() {}

        @Override
        public RegionMemory memory() {
            return NOTHING;
        }
    }

    @Test
    void anElementIsOneChunkUnlessItsKindOfMemoryPrefersSmallerOnes() {
        PathQueue queue = queue(
                new Capabilities(MIB, true).withPreferredChunk(MemoryKind.CUDA, 4096), new SteppedFlow.HeldRequests());
        assertThat(queue.chunk(null, 0, 8192)).isEqualTo(8192);
        assertThat(queue.chunk(CudaMemory.INSTANCE, 0, 4096)).isEqualTo(4096);
        assertThat(queue.chunk(CudaMemory.INSTANCE, 0, 8192)).isEqualTo(4096);
        assertThat(queue.chunk(CudaMemory.INSTANCE, 4096, 8192)).isEqualTo(4096);
        assertThat(queue.chunk(CudaMemory.INSTANCE, 8000, 8192)).isEqualTo(192);
        assertThat(queue.chunk(null, MIB, MIB + 1)).isEqualTo(1);
    }

    @Test
    void noPreferenceGoesBeyondTheWindowAndTheLargestMessage() {
        SteppedFlow.HeldRequests endpoint = new SteppedFlow.HeldRequests();
        Capabilities wanting = new Capabilities(1024 * MIB, true).withPreferredChunk(MemoryKind.HOST, 512 * MIB);
        assertThat(queue(wanting, endpoint).chunker(MemoryKind.HOST).chunk(1024 * MIB))
                .isEqualTo(128 * MIB);
        Capabilities small = new Capabilities(MIB, true).withPreferredChunk(MemoryKind.HOST, 512 * MIB);
        assertThat(queue(small, endpoint).chunker(MemoryKind.HOST).chunk(1024 * MIB))
                .isEqualTo(MIB);
    }

    @Test
    void listsGoToEndpointsThatTakeThemForTheRegion() {
        Capabilities plain = new Capabilities(MIB, true);
        assertThat(queue(plain, new SteppedFlow.HeldRequests()).takesPages(LISTED))
                .isFalse();
        PathQueue taking = queue(plain.withGatherElements(3), new ListTaker());
        assertThat(taking.takesPages(LISTED)).isTrue();
        assertThat(taking.takesPages(OTHER)).isFalse();
        assertThat(taking.gatherElements()).isEqualTo(3);
    }
}
