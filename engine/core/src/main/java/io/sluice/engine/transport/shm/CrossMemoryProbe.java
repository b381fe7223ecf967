package io.sluice.engine.transport.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;

/**
 * Random bytes of this process: a peer that reads them by cross-memory attach has found the right process and has
 * access.
 */
final class CrossMemoryProbe implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final byte[] bytes = new byte[ShmOffer.PROBE_BYTES];
    private final MemorySegment memory = arena.allocate(ShmOffer.PROBE_BYTES);

    CrossMemoryProbe() {
        new SecureRandom().nextBytes(bytes);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
    }

    long address() {
        return memory.address();
    }

    byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public void close() {
        arena.close();
    }
}
