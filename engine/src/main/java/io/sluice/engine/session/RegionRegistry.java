package io.sluice.engine.session;

import io.sluice.engine.Access;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.MappedSegment;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.jni.Errno;
import io.sluice.jni.Memory;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The regions of an engine, by number and by name. Any thread. */
final class RegionRegistry {
    private final LocalEngine engine;
    private final AtomicLong next = new AtomicLong(1);
    private final Map<Long, LocalRegion> byNumber = new ConcurrentHashMap<>();
    private final Map<String, LocalRegion> byName = new ConcurrentHashMap<>();

    RegionRegistry(LocalEngine engine) {
        this.engine = engine;
    }

    LocalRegion allocate(long bytes, RegionOptions options) {
        if (bytes < 1) {
            throw new RegistrationException("a region has at least 1 byte, not " + bytes);
        }
        for (OpenTransport transport : engine.transports().all()) {
            AllocatedMemory memory = transport.transport().allocate(bytes, options.access());
            if (memory != null) {
                return allocated(memory, transport, options);
            }
        }
        return anonymous(bytes, options);
    }

    private LocalRegion allocated(AllocatedMemory memory, OpenTransport by, RegionOptions options) {
        try {
            return add(memory.segment(), options, by, memory.registration(), memory::close);
        } catch (RegistrationException e) {
            memory.close();
            throw e;
        }
    }

    private LocalRegion anonymous(long bytes, RegionOptions options) {
        long address = Memory.map(bytes, false);
        if (address < 0) {
            throw new RegistrationException("cannot allocate " + bytes + " bytes: " + Errno.message((int) -address)
                    + (address == -Errno.ENOMEM
                            ? "; ask for less, or see the limits of the process (ulimit -v) or container"
                            : ""));
        }
        MappedSegment mapped = new MappedSegment(address, bytes, Memory::unmap);
        try {
            return add(mapped.segment(), options, null, null, mapped::close);
        } catch (RegistrationException e) {
            mapped.close();
            throw e;
        }
    }

    LocalRegion register(MemorySegment segment, RegionOptions options) {
        if (!segment.isNative()) {
            throw new RegistrationException("a heap segment cannot be registered: the collector moves it. Allocate the"
                    + " segment from an Arena, or use the engine's allocate");
        }
        if (!segment.isAccessibleBy(Thread.ofPlatform().unstarted(() -> {}))) {
            throw new RegistrationException(
                    "a confined segment cannot be registered: pollers are other threads. Use" + " Arena.ofShared()");
        }
        if (!segment.scope().isAlive()) {
            throw new RegistrationException("the segment's arena is closed");
        }
        if (segment.byteSize() < 1) {
            throw new RegistrationException("a region has at least 1 byte");
        }
        if (segment.isReadOnly() && options.access().contains(Access.REMOTE_WRITE)) {
            throw new RegistrationException("a read-only segment cannot be given REMOTE_WRITE");
        }
        return add(segment, options, null, null, () -> {});
    }

    private LocalRegion add(
            MemorySegment segment,
            RegionOptions options,
            @Nullable OpenTransport madeBy,
            @Nullable RegisteredMemory made,
            Runnable giveBack) {
        Registrations registrations = Registrations.make(engine.transports().all(), segment, options, madeBy, made);
        LocalRegion region = new LocalRegion(
                engine, next.getAndIncrement(), options, segment, registrations, engine::awaited, giveBack);
        String name = options.name();
        if (name != null && byName.putIfAbsent(name, region) != null) {
            registrations.close();
            throw new RegistrationException("a region named '" + name + "' exists already");
        }
        byNumber.put(region.id(), region);
        return region;
    }

    void remove(LocalRegion region) {
        byNumber.remove(region.id());
        String name = region.name();
        if (name != null) {
            byName.remove(name, region);
        }
    }

    @Nullable
    LocalRegion get(long number) {
        return byNumber.get(number);
    }

    @Nullable
    LocalRegion get(String name) {
        return byName.get(name);
    }

    Collection<LocalRegion> all() {
        return byNumber.values();
    }
}
