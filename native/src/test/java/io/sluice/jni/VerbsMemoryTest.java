package io.sluice.jni;

import static io.sluice.jni.VerbsPeer.handle;
import static io.sluice.jni.VerbsPeer.ok;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VerbsMemoryTest {
    private static final long BYTES = 1 << 16;

    private final long address = Memory.map(BYTES, false);
    private long device;
    private long domain;

    @BeforeEach
    void open() {
        SoftAdapter.load();
        device = handle(VerbsDevice.open(SoftAdapter.FIRST_DEVICE));
        domain = handle(VerbsDevice.allocateProtectionDomain(device));
    }

    @AfterEach
    void close() {
        ok(VerbsDevice.freeProtectionDomain(domain));
        ok(VerbsDevice.close(device));
        ok(Memory.unmap(address, BYTES));
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                0,
                VerbsMemory.LOCAL_WRITE,
                VerbsMemory.REMOTE_READ,
                VerbsMemory.LOCAL_WRITE | VerbsMemory.REMOTE_WRITE | VerbsMemory.REMOTE_ATOMIC,
                VerbsMemory.LOCAL_WRITE | VerbsMemory.RELAXED_ORDERING
            })
    void a_region_has_keys_until_it_is_deregistered(int access) {
        long region = handle(VerbsMemory.register(domain, address, BYTES, access));
        long other = handle(VerbsMemory.register(domain, address, BYTES, access));
        assertThat(VerbsMemory.localKey(region)).isNotEqualTo(VerbsMemory.localKey(other));
        assertThat(VerbsMemory.remoteKey(region)).isNotEqualTo(VerbsMemory.remoteKey(other));
        assertThat(VerbsDevice.freeProtectionDomain(domain)).isEqualTo(-Errno.EBUSY);
        ok(VerbsMemory.deregister(region));
        ok(VerbsMemory.deregister(other));
    }

    @Test
    void rights_that_do_not_go_together_or_are_unknown_are_errors() {
        assertThat(VerbsMemory.register(domain, address, BYTES, VerbsMemory.REMOTE_WRITE))
                .isEqualTo(-Errno.EINVAL);
        assertThat(VerbsMemory.register(domain, address, BYTES, 1 << 6)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsMemory.register(domain, address, BYTES, -1)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsMemory.registerDmabuf(domain, 0, 0, BYTES, 0, -1)).isEqualTo(-Errno.EINVAL);
    }

    @Test
    void memory_that_is_none_is_an_error() {
        assertThat(VerbsMemory.register(domain, 0, BYTES, 0)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsMemory.register(domain, address, 0, 0)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsMemory.register(domain, address, -1, 0)).isEqualTo(-Errno.EINVAL);
        long gone = Memory.map(BYTES, false);
        ok(Memory.unmap(gone, BYTES));
        assertThat(VerbsMemory.register(domain, gone, BYTES, 0)).isEqualTo(-Errno.EFAULT);
        assertThat(VerbsMemory.registerDmabuf(domain, 0, -1, BYTES, 0, 0)).isEqualTo(-Errno.EINVAL);
        assertThat(VerbsMemory.registerDmabuf(domain, 0, 0, 0, 0, 0)).isEqualTo(-Errno.EINVAL);
    }

    @Test
    void a_descriptor_that_is_no_dmabuf_is_an_error() {
        assertThat(VerbsMemory.registerDmabuf(domain, -1, 0, BYTES, 0, VerbsMemory.LOCAL_WRITE))
                .isIn((long) -Errno.EBADF, (long) -Errno.EOPNOTSUPP);
    }
}
