package io.sluice.engine.memory;

import io.sluice.engine.Access;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.progress.Observers;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.transport.AllocatedMemory;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.MappedSegment;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.jni.Errno;
import io.sluice.jni.MachineFacts;
import io.sluice.jni.Memory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The regions of an engine, by number and by name. Any thread. */
public final class RegionRegistry implements RegionOwner {
    private static final Logger LOG = LoggerFactory.getLogger(RegionRegistry.class);

    private final Collection<OpenTransport> transports;
    private final DescriptorKeys descriptorKeys;
    private final Consumer<LocalRegion> whenClosing;
    private final @Nullable Observers observers;
    private final RegionReleases releases;
    private final @Nullable DeviceWordWatch deviceWords;
    private final AtomicLong next = new AtomicLong(1);
    private final Map<Long, LocalRegion> byNumber = new ConcurrentHashMap<>();
    private final Map<String, LocalRegion> byName = new ConcurrentHashMap<>();
    // regions with a word for which a wait is or was pending; copied on change, so that iterating allocates nothing
    private volatile LocalRegion[] awaited = {};

    /**
     * Creates a registry without regions.
     *
     * @param transports the transports with which regions are registered
     * @param descriptorKeys the engine's keys
     * @param whenClosing tells the connections that a region closes
     * @param observers the engine's observers, or null
     * @param releases releases memory, which may block
     * @param loop polls words of devices for which a wait is pending; null if there are no devices
     */
    public RegionRegistry(
            Collection<OpenTransport> transports,
            DescriptorKeys descriptorKeys,
            Consumer<LocalRegion> whenClosing,
            @Nullable Observers observers,
            RegionReleases releases,
            @Nullable EventLoop loop) {
        this.transports = transports;
        this.descriptorKeys = descriptorKeys;
        this.whenClosing = whenClosing;
        this.observers = observers;
        this.releases = releases;
        this.deviceWords = loop == null ? null : new DeviceWordWatch(loop);
    }

    public LocalRegion allocate(long bytes, RegionOptions options) {
        if (bytes < 1) {
            throw new RegistrationException("a region has at least 1 byte, not " + bytes);
        }
        for (OpenTransport transport : transports) {
            if (!transport.transport().memory().allocate().contains(options.kind())) {
                continue;
            }
            AllocatedMemory memory = transport.transport().allocate(bytes, options);
            if (memory != null) {
                return allocated(memory, transport, options);
            }
        }
        if (options.kind() != MemoryKind.HOST) {
            throw new RegistrationException("no transport of this engine allocates memory of kind " + options.kind()
                    + " on " + options.device() + "; its transports are "
                    + transports.stream().map(OpenTransport::name).toList());
        }
        return anonymous(bytes, options);
    }

    private LocalRegion allocated(AllocatedMemory memory, OpenTransport by, RegionOptions options) {
        try {
            return add(memory.memory(), options, by, memory.registration(), memory::close);
        } catch (RegistrationException e) {
            memory.close();
            throw e;
        }
    }

    private LocalRegion anonymous(long bytes, RegionOptions options) {
        // pages are committed at registration or first access, and then the kernel ends the process if there are none
        long available = MachineFacts.availableMemory();
        if (available >= 0 && available < bytes) {
            throw new RegistrationException("cannot allocate " + bytes + " bytes: " + available
                    + " are available; ask for less, free memory on the machine, or raise the memory limit of the"
                    + " container or of another control group that the process is in");
        }
        long address = Memory.map(bytes, false);
        if (address < 0) {
            throw new RegistrationException("cannot allocate " + bytes + " bytes: " + Errno.message((int) -address)
                    + (address == -Errno.ENOMEM
                            ? "; ask for less, or see the limits of the process (ulimit -v) or container"
                            : ""));
        }
        MappedSegment mapped = new MappedSegment(address, bytes, Memory::unmap);
        try {
            return add(RegionMemory.host(mapped.segment()), options, null, null, mapped::close);
        } catch (RegistrationException e) {
            mapped.close();
            throw e;
        }
    }

    public LocalRegion register(RegionMemory memory, RegionOptions options) {
        if (!memory.isAlive()) {
            throw new RegistrationException("the memory was freed, or its arena closed: " + memory);
        }
        if (memory.length() < 1) {
            throw new RegistrationException("a region has at least 1 byte");
        }
        if (memory.isHost()) {
            checkSegment(memory.segment(), options);
        } else if (transports.stream()
                .noneMatch(each -> each.transport().memory().register().contains(memory.kind()))) {
            throw new RegistrationException("no transport of this engine registers memory of kind " + memory.kind()
                    + "; its transports are "
                    + transports.stream().map(OpenTransport::name).toList());
        }
        return add(memory, options, null, null, () -> {});
    }

    private static void checkSegment(MemorySegment segment, RegionOptions options) {
        if (!segment.isNative()) {
            throw new RegistrationException("a heap segment cannot be registered: the collector moves it. Allocate the"
                    + " segment from an Arena, or use the engine's allocate");
        }
        if (!segment.isAccessibleBy(Thread.ofPlatform().unstarted(() -> {}))) {
            throw new RegistrationException(
                    "a confined segment cannot be registered: pollers are other threads. Use" + " Arena.ofShared()");
        }
        if (segment.isReadOnly() && options.access().contains(Access.REMOTE_WRITE)) {
            throw new RegistrationException("a read-only segment cannot be given REMOTE_WRITE");
        }
    }

    private LocalRegion add(
            RegionMemory memory,
            RegionOptions options,
            @Nullable OpenTransport madeBy,
            @Nullable RegisteredMemory made,
            Runnable giveBack) {
        TransportRegistrations registrations = TransportRegistrations.make(transports, memory, options, madeBy, made);
        LocalRegion region =
                new LocalRegion(this, next.getAndIncrement(), options, memory, registrations, this::awaited, giveBack);
        String name = options.name();
        if (name != null && byName.putIfAbsent(name, region) != null) {
            registrations.close();
            throw new RegistrationException("a region named '" + name + "' exists already");
        }
        byNumber.put(region.id(), region);
        return region;
    }

    /** Called when a wait begins for a word of the region, as peers may change words without saying which. */
    private void awaited(LocalRegion region) {
        if (region.words().areOfADevice()) {
            if (deviceWords != null) {
                deviceWords.watch(region);
            }
            return;
        }
        if (!isAwaited(region)) {
            awaitedFromNowOn(region);
        }
        if (!region.isOpen()) {
            awaitedNoMore(region);
        }
    }

    private boolean isAwaited(LocalRegion region) {
        for (LocalRegion each : awaited) {
            if (each.equals(region)) {
                return true;
            }
        }
        return false;
    }

    private synchronized void awaitedFromNowOn(LocalRegion region) {
        if (!isAwaited(region)) {
            LocalRegion[] more = Arrays.copyOf(awaited, awaited.length + 1);
            more[awaited.length] = region;
            awaited = more;
        }
    }

    private synchronized void awaitedNoMore(LocalRegion region) {
        awaited = Arrays.stream(awaited).filter(each -> !each.equals(region)).toArray(LocalRegion[]::new);
    }

    /** Called when peers may have changed words by themselves. */
    public void wordsChanged() {
        for (LocalRegion region : awaited) {
            if (region.acquire()) {
                try {
                    region.words().anyChanged();
                } finally {
                    region.release();
                }
            }
        }
    }

    @Override
    public DescriptorKeys descriptorKeys() {
        return descriptorKeys;
    }

    @Override
    public void regionClosing(LocalRegion region) {
        awaitedNoMore(region);
        if (deviceWords != null) {
            deviceWords.forget(region);
        }
        remove(region);
        whenClosing.accept(region);
    }

    @Override
    public void regionClosed(LocalRegion region, Runnable giveBack) {
        LOG.debug("{} is closed", region);
        Observers told = observers;
        if (told != null) {
            told.regionClosed(region);
        }
        releases.start(region, giveBack);
    }

    private void remove(LocalRegion region) {
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

    public Collection<LocalRegion> all() {
        return byNumber.values();
    }

    public long lockedBytes() {
        return all().stream().mapToLong(LocalRegion::lockedBytes).sum();
    }
}
