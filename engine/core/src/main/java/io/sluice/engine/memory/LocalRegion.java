package io.sluice.engine.memory;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.Signal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.flow.LeasedMemory;
import io.sluice.engine.transport.LeasedRegion;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.RegisteredMemory;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A region of this engine. A lease is held while the kernel or a loop may touch its bytes. */
public final class LocalRegion implements MemoryRegion, LeasedMemory, LeasedRegion {
    private static final long CLOSING = Long.MIN_VALUE;

    private final RegionOwner owner;
    private final long id;
    private final RegionOptions options;
    private final RegionMemory memory;
    private final TransportRegistrations registrations;
    private final Runnable giveBack;
    private final RegionWords words;
    // the number of leases; the sign bit means that no more are granted
    private final AtomicLong leases = new AtomicLong();
    // of those who are told when the region begins to close
    private final Set<Lease> longLeases = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean givenBack = new AtomicBoolean();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    LocalRegion(
            RegionOwner owner,
            long id,
            RegionOptions options,
            RegionMemory memory,
            TransportRegistrations registrations,
            Consumer<LocalRegion> whenAwaited,
            Runnable giveBack) {
        this.owner = owner;
        this.registrations = registrations;
        this.id = id;
        this.options = options;
        this.memory = memory;
        this.giveBack = giveBack;
        this.words =
                new RegionWords(memory, memory.isHost() ? null : registrations.words(), () -> whenAwaited.accept(this));
    }

    /**
     * Returns the region of a caller's region or slice.
     *
     * @throws IllegalArgumentException if it does not belong to a Sluice engine
     */
    public static LocalRegion of(MemoryRegion region) {
        return switch (region) {
            case LocalRegion whole -> whole;
            case RegionSlice slice -> slice.region();
            default -> throw new IllegalArgumentException("not a region of a Sluice engine: " + region);
        };
    }

    long id() {
        return id;
    }

    /** Returns the owner, which distinguishes regions of different engines. */
    public RegionOwner owner() {
        return owner;
    }

    @Override
    public boolean acquire() {
        // the caller may have closed its arena too early; its addresses must not be used then
        if (!memory.isAlive()) {
            return false;
        }
        long count;
        do {
            count = leases.get();
            if (count < 0) {
                return false;
            }
        } while (!leases.compareAndSet(count, count + 1));
        return true;
    }

    @Override
    public void release() {
        if (leases.decrementAndGet() == CLOSING) {
            finish();
        }
    }

    private final class Lease implements Runnable {
        private final Runnable closing;

        Lease(Runnable closing) {
            this.closing = closing;
        }

        /** Ends it. */
        @Override
        public void run() {
            if (longLeases.remove(this)) {
                release();
            }
        }
    }

    @Override
    public @Nullable Runnable lease(Runnable closing) {
        if (!acquire()) {
            return null;
        }
        Lease lease = new Lease(closing);
        longLeases.add(lease);
        if (!isOpen()) {
            // closed meanwhile, by a thread that may not have found it
            closing.run();
        }
        return lease;
    }

    @Override
    public RegionMemory memory() {
        return memory;
    }

    @Override
    public @Nullable RegisteredMemory registration(int transport) {
        return registrations.get(transport);
    }

    /** Whether a transport has registered the memory, so that peers may reach it. */
    boolean isTakenBy(int transport) {
        return registrations.isTakenBy(transport);
    }

    /** Returns why a transport has not registered the memory; null if it has, or was not asked. */
    public @Nullable RegistrationException refusal(int transport) {
        return registrations.refusal(transport);
    }

    /** Whether the release of the memory may wait for work of a device that nothing can end. */
    boolean waitsForDevice() {
        return registrations.waitForDevice();
    }

    /** Fails {@link #close} if the memory is not released in time: it is released later then. Returns the end of either. */
    CompletableFuture<Void> closedWithin(Duration longest) {
        return closed.copy().orTimeout(longest.toNanos(), TimeUnit.NANOSECONDS).whenComplete((nothing, error) -> {
            if (error instanceof TimeoutException) {
                closed.completeExceptionally(new SluiceException("the memory of " + this
                        + " is not released yet: a device is at work, perhaps on a kernel that goes on and on. It is"
                        + " released once that has ended"));
            }
        });
    }

    long lockedBytes() {
        return registrations.lockedBytes();
    }

    @Override
    public long length() {
        return memory.length();
    }

    @Override
    public long offset() {
        return 0;
    }

    @Override
    public MemoryKind kind() {
        return memory.kind();
    }

    @Override
    public Set<Access> access() {
        return options.access();
    }

    @Override
    public @Nullable String name() {
        return options.name();
    }

    @Override
    public MemorySegment segment() {
        return memory.segment();
    }

    /** Returns the words, for the holder of a lease. */
    RegionWords words() {
        return words;
    }

    @Override
    public AtomicDomain atomicDomain() {
        return options.atomicDomain();
    }

    @Override
    public Signal signal(long offset) {
        return signal(this, offset, offset);
    }

    Signal signal(MemoryRegion of, long offset, long at) {
        Objects.checkFromIndexSize(offset, Long.BYTES, of.length());
        if (!words.areReachable()) {
            throw new MemoryNotAccessibleException(memory);
        }
        if (at % Long.BYTES != 0 || !words.isAligned(at)) {
            throw new IllegalArgumentException(
                    "a signal is aligned to 8 bytes, in the region and in memory; offset " + at + " is not");
        }
        return new RegionSignal(of, offset, this, at);
    }

    @Override
    public long checksum(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, length());
        if (!words.areReachable()) {
            throw new MemoryNotAccessibleException(memory);
        }
        if (!acquire()) {
            throw closedError();
        }
        try {
            MemoryChecksum sum = new MemoryChecksum();
            words.addTo(sum, offset, length);
            return Integer.toUnsignedLong(sum.value());
        } finally {
            release();
        }
    }

    @Override
    public MemoryRegion slice(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, length());
        return new RegionSlice(this, offset, length);
    }

    @Override
    public RegionDescriptor descriptor() {
        return descriptor(access());
    }

    @Override
    public RegionDescriptor descriptor(Set<Access> rights) {
        return descriptor(rights, 0, length());
    }

    RegionDescriptor descriptor(Set<Access> rights, long offset, long length) {
        if (access().isEmpty()) {
            throw new IllegalStateException("the region is local: peers have no rights on it, so it has no descriptor");
        }
        if (rights.isEmpty() || !access().containsAll(rights)) {
            throw new IllegalArgumentException("rights " + rights + " are not a part of the region's " + access());
        }
        return owner.descriptorKeys().issue(id, kind(), rights, offset, length);
    }

    @Override
    public boolean isOpen() {
        return leases.get() >= 0;
    }

    /** Whether nothing can touch the bytes any more. */
    public boolean isGivenBack() {
        return givenBack.get();
    }

    @Override
    public CompletableFuture<Void> close() {
        long count;
        do {
            count = leases.get();
            if (count < 0) {
                return closed.copy();
            }
        } while (!leases.compareAndSet(count, count | CLOSING));
        words.waits().close(closedError());
        owner.regionClosing(this);
        longLeases.forEach(lease -> lease.closing.run());
        if (count == 0) {
            finish();
        }
        return closed.copy();
    }

    /** Returns the error of an operation that finds this region closed. */
    RegionClosedException closedError() {
        return new RegionClosedException("region " + id + (name() == null ? "" : " '" + name() + "'")
                + " is closed, or its memory was freed; allocate or register another");
    }

    private void finish() {
        if (givenBack.compareAndSet(false, true)) {
            owner.regionClosed(this, () -> {
                try {
                    // first, so that no adapter can access the memory when it returns to the system
                    registrations.close();
                    giveBack.run();
                    closed.complete(null);
                } catch (RuntimeException | Error e) {
                    closed.completeExceptionally(new SluiceException("the memory of " + this + " was not released", e));
                    throw e;
                }
            });
        }
    }

    @Override
    public String toString() {
        return "MemoryRegion[" + id + (name() == null ? "" : " '" + name() + "'") + ", " + length() + " bytes, "
                + access() + (isOpen() ? "]" : ", closed]");
    }
}
