package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.SecretSource;
import io.sluice.engine.transport.WorkRequest;
import java.nio.ByteBuffer;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A peer that attaches again and again, and gives nothing back, gets no more than so many leases. */
class LeaseBoundTest {
    private static final int ATTACHED = 16;
    private static final int MOST = 2 * ATTACHED + 1024;
    private static final int BYTES = 4096;

    private final MappingThread thread = new MappingThread("mappings of a test");
    private final ReleaseThread releases = new ReleaseThread();
    private Gpus gpus;
    private long address;
    private Region region;
    private PeerLink link;
    private OwnMemory own;

    @BeforeEach
    void open() {
        SoftGpu.load();
        gpus = new Gpus(1);
        address = SoftGpu.malloc(0, BYTES);
        region = new Region(DeviceRegistration.of(
                RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(0), address, BYTES, () -> true),
                new PinnedRings(gpus, thread, releases, PinnedRing.PAGES_BYTES, true)));
        TestContext context = new TestContext(
                true, EngineOptions.builder().maxAttachedRegions(ATTACHED).build());
        link = new PeerLink(context, new SecretSource(), new NoOwner());
        own = new OwnMemory(context, link);
    }

    @AfterEach
    void close() {
        link.close();
        region.registration.close();
        SoftGpu.free(0, address);
        gpus.close();
        thread.close();
        releases.close();
    }

    @Test
    void leases_are_bounded_and_come_back() {
        for (long handle = 0; handle < MOST; handle++) {
            assertThat(own.keysOf(handle, region)).isNotNull();
        }
        assertThat(region.leases).isEqualTo(MOST);
        assertThatThrownBy(() -> own.keysOf(MOST, region))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("again and again");
        assertThat(region.leases).isEqualTo(MOST);
        own.ended(7);
        own.released(7);
        assertThat(own.keysOf(MOST, region)).isNotNull();
        assertThatThrownBy(() -> own.keysOf(MOST + 1, region)).isInstanceOf(ProtocolException.class);
        own.peerStopped();
        assertThat(region.leases).isZero();
        assertThat(own.reaches(region)).isFalse();
    }

    private static final class Region implements ExportedRegion {
        private final DeviceRegistration registration;
        private int leases;

        Region(DeviceRegistration registration) {
            this.registration = registration;
        }

        @Override
        public boolean lease() {
            leases++;
            return true;
        }

        @Override
        public void release() {
            leases--;
        }

        @Override
        public RegisteredMemory registration() {
            return registration;
        }

        @Override
        public RegionMemory memory() {
            return RegionMemory.device(
                    MemoryKind.CUDA, registration.gpu().id(), registration.base(), BYTES, () -> true);
        }

        @Override
        public Set<Access> access() {
            return Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE);
        }

        @Override
        public AtomicDomain atomicDomain() {
            return AtomicDomain.TARGET_CPU;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public CompletionStatus acquire(WorkRequest.Opcode operation, long key, long epoch, long offset, long length) {
            throw none();
        }

        @Override
        public void changed(long offset) {
            throw none();
        }

        @Override
        public long fetchAdd(long offset, long addend) {
            throw none();
        }

        @Override
        public long compareAndSwap(long offset, long expected, long replacement) {
            throw none();
        }
    }

    private static final class NoOwner implements PeerLink.Owner {
        @Override
        public void met() {
            throw none();
        }

        @Override
        public void message(byte type, ByteBuffer message, int descriptor) {
            throw none();
        }

        @Override
        public void roomAgain() {
            throw none();
        }

        @Override
        public void failed(SluiceException error) {
            throw error;
        }

        @Override
        public boolean hungUp() {
            throw none();
        }

        @Override
        public void peerGone() {
            throw none();
        }
    }

    private static UnsupportedOperationException none() {
        return new UnsupportedOperationException("the test needs none");
    }
}
