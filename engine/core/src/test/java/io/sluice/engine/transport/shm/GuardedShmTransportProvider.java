package io.sluice.engine.transport.shm;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransportStatus;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.MemorySupport;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.engine.transport.TransportProvider;
import io.sluice.jni.Memory;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Opens the shm transport with every region right at a guard page, which its mappings have on both sides: in turns a
 * region stands at the beginning of its file and, up to the alignment of words, at the end, for its owner as for the
 * peers that attach it. A region that no peer reaches has no file, and is as ever. An engine prefers any other.
 */
public final class GuardedShmTransportProvider implements TransportProvider {
    static final String NAME = "guardedshm";

    /** For the service loader. */
    public GuardedShmTransportProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int preference() {
        return Integer.MIN_VALUE;
    }

    @Override
    public TransportStatus status() {
        TransportStatus shm = new ShmTransportProvider().status();
        return new TransportStatus(NAME, shm.unavailable(), shm.cause());
    }

    @Override
    public Transport open(EngineOptions options) {
        return new Guarded(new ShmTransportProvider().open(options));
    }

    private record Guarded(Transport shm, AtomicLong made) implements Transport {
        Guarded(Transport shm) {
            this(shm, new AtomicLong());
        }

        @Override
        public Capabilities capabilities() {
            return shm.capabilities();
        }

        @Override
        public MemorySupport memory() {
            return shm.memory();
        }

        @Override
        public Set<MemoryKind> partial() {
            return shm.partial();
        }

        @Override
        public @Nullable String complement() {
            return shm.complement();
        }

        @Override
        public String reach() {
            return shm.reach();
        }

        @Override
        public @Nullable String whyOutOfReach(String peer) {
            return shm.whyOutOfReach(peer);
        }

        @Override
        public @Nullable AllocatedMemory allocate(long bytes, RegionOptions options) {
            long page = Memory.pageSize();
            if (bytes > Long.MAX_VALUE - page) {
                return shm.allocate(bytes, options);
            }
            long slack = (page - bytes % page) % page / Long.BYTES * Long.BYTES;
            long start = made.getAndIncrement() % 2 == 0 ? 0 : slack;
            AllocatedMemory file = shm.allocate(bytes + start, options);
            return file == null
                    ? null
                    : new Placed(file.memory().slice(start, bytes), file.registration(), file::close);
        }

        @Override
        public @Nullable RegisteredMemory register(RegionMemory memory, Set<Access> access, AtomicDomain domain) {
            return shm.register(memory, access, domain);
        }

        @Override
        public TransportLoop openLoop(EventLoop loop) {
            return shm.openLoop(loop);
        }

        @Override
        public void close() {
            shm.close();
        }
    }

    private record Placed(RegionMemory memory, RegisteredMemory registration, Runnable closing)
            implements AllocatedMemory {
        @Override
        public void close() {
            closing.run();
        }
    }
}
