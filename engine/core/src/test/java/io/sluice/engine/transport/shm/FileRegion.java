package io.sluice.engine.transport.shm;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.WorkRequest;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** A region of the transport's own memory, attached by a peer, that counts its leases. */
final class FileRegion implements ExportedRegion, AutoCloseable {
    private final SharedFile file;
    private final Set<Access> access;
    private final AtomicInteger leases = new AtomicInteger();

    FileRegion(SharedFile file, Set<Access> access) {
        this.file = file;
        this.access = access;
    }

    SharedFile file() {
        return file;
    }

    int leases() {
        return leases.get();
    }

    @Override
    public CompletionStatus acquire(WorkRequest.Opcode operation, long key, long epoch, long offset, long length) {
        return CompletionStatus.ACCESS_DENIED;
    }

    @Override
    public boolean lease() {
        leases.incrementAndGet();
        return true;
    }

    @Override
    public void release() {
        leases.decrementAndGet();
    }

    @Override
    public Set<Access> access() {
        return access;
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
    public RegisteredMemory registration() {
        return file.registration();
    }

    @Override
    public void changed(long offset) {}

    @Override
    public RegionMemory memory() {
        return file.memory();
    }

    @Override
    public long fetchAdd(long offset, long addend) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long compareAndSwap(long offset, long expected, long replacement) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        file.close();
    }
}
