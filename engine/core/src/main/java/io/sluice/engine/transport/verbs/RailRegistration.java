package io.sluice.engine.transport.verbs;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.DmaBufferMemory;
import io.sluice.engine.transport.DmaBufferMemory.Buffer;
import io.sluice.engine.transport.DmaBufferMemory.Flush;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.jni.Errno;
import io.sluice.jni.VerbsMemory;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A region's registration with each rail. Any thread. */
final class RailRegistration implements RegisteredMemory {
    private static final Logger LOG = LoggerFactory.getLogger(RailRegistration.class);

    private final long address;
    private final long length;
    private final boolean adapterAtomics;
    private final boolean locked;
    private final @Nullable DmaBufferMemory exported;
    private final @Nullable Flush flush;
    private final Runnable ended;
    // a bit for each rail that is nearest to the device that the memory lies on; 0 if none is preferred
    private final int near;
    private final long[] regions;
    private final int[] localKeys;
    private final int[] remoteKeys;

    private RailRegistration(
            RegionMemory memory,
            boolean adapterAtomics,
            boolean locked,
            @Nullable DmaBufferMemory exported,
            @Nullable Flush flush,
            int rails,
            int near,
            Runnable ended) {
        this.ended = ended;
        this.near = near;
        this.address = memory.address();
        this.length = memory.length();
        this.adapterAtomics = adapterAtomics;
        this.locked = locked;
        this.exported = exported;
        this.flush = flush;
        this.regions = new long[rails];
        this.localKeys = new int[rails];
        this.remoteKeys = new int[rails];
    }

    /**
     * Registers with all rails, or with none.
     *
     * @param exported how adapters reach the memory of a device; null for memory of the host
     * @param ended runs when the registration has ended, unless this throws
     * @throws RegistrationException if the memory cannot be exported or a rail refuses; the message says what to do
     */
    static RailRegistration make(
            List<Rail> rails,
            VerbsOptions options,
            RegionMemory memory,
            @Nullable DmaBufferMemory exported,
            Set<Access> access,
            AtomicDomain domain,
            Runnable ended) {
        Flush flush = exported == null ? null : exported.flush();
        // no engine flushes what an adapter's own operations follow
        boolean atomics = flush == null
                && domain == AtomicDomain.NETWORK_ADAPTER
                && rails.getFirst().limits().atomics();
        int rights = memory.isHost() && memory.segment().isReadOnly() ? 0 : VerbsMemory.LOCAL_WRITE;
        rights |= access.contains(Access.REMOTE_WRITE) ? VerbsMemory.REMOTE_WRITE : 0;
        rights |= access.contains(Access.REMOTE_READ) ? VerbsMemory.REMOTE_READ : 0;
        rights |= atomics && access.contains(Access.REMOTE_WRITE) ? VerbsMemory.REMOTE_ATOMIC : 0;
        rights |= options.relaxedOrdering() ? VerbsMemory.RELAXED_ORDERING : 0;
        boolean onDemand = options.onDemandPaging() && exported == null;
        rights |= onDemand ? VerbsMemory.ON_DEMAND : 0;
        RailRegistration made = new RailRegistration(
                memory,
                atomics,
                exported == null && !onDemand,
                exported,
                flush,
                rails.size(),
                exported == null || rails.size() == 1 ? 0 : nearest(rails, exported),
                ended);
        try (Buffer buffer = exported == null ? null : exported.export()) {
            for (Rail rail : rails) {
                // a removed rail must not keep the others from being used
                if (!rail.isRemoved()) {
                    made.register(rail, rights, onDemand, buffer);
                }
            }
        } catch (RegistrationException e) {
            made.deregister();
            throw e;
        }
        return made;
    }

    private static int nearest(List<Rail> rails, DmaBufferMemory memory) {
        int nearest = 0;
        long least = Long.MAX_VALUE;
        for (Rail rail : rails) {
            long distance = memory.distanceTo(rail.name());
            if (distance < least) {
                least = distance;
                nearest = 0;
            }
            if (distance == least && distance < Long.MAX_VALUE) {
                nearest |= 1 << rail.index();
            }
        }
        return nearest;
    }

    private void register(Rail rail, int rights, boolean onDemand, @Nullable Buffer buffer) {
        if (onDemand && !rail.limits().onDemandPaging()) {
            throw new RegistrationException(
                    rail + " has no on-demand paging; leave SLUICE_VERBS_ON_DEMAND_PAGING out, or use another device");
        }
        if (length > rail.limits().regionBytes()) {
            throw new RegistrationException(
                    rail + " takes regions of " + rail.limits().regionBytes() + " bytes at most, not " + length);
        }
        long region = buffer == null
                ? VerbsMemory.register(rail.domain(), address, length, rights)
                : VerbsMemory.registerDmabuf(
                        rail.domain(), buffer.descriptor(), buffer.offset(), length, address, rights);
        if (region < 0) {
            throw new RegistrationException(rail + " cannot register " + length + " bytes"
                    + (buffer == null ? ": " : " of a device by a DMA buffer: ")
                    + Errno.message((int) -region)
                    + (buffer == null ? advice((int) -region) : deviceAdvice((int) -region)));
        }
        regions[rail.index()] = region;
        localKeys[rail.index()] = VerbsMemory.localKey(region);
        remoteKeys[rail.index()] = VerbsMemory.remoteKey(region);
    }

    private static String advice(int error) {
        return switch (error) {
            case Errno.ENOMEM -> LockedMemory.advice();
            case Errno.EFAULT ->
                ". Was the memory freed, or is it a file mapped read-only, which kernels before 6.2 refuse? Map"
                        + " it by FileChannel.MapMode.PRIVATE, or copy it";
            default -> "";
        };
    }

    private static String deviceAdvice(int error) {
        return error == Errno.EOPNOTSUPP ? "; adapter, kernel (5.12) and libibverbs (34) must support it" : "";
    }

    long address() {
        return address;
    }

    /** Whether the memory is still that which was registered. */
    boolean isCurrent() {
        try {
            return exported == null || exported.isCurrent();
        } catch (SluiceException e) {
            LOG.warn("memory of a device cannot be attached", e);
            return false;
        }
    }

    /** The step between the arrival of bytes here and their use; null if there is none. */
    @Nullable
    Flush flush() {
        return flush;
    }

    boolean hasAdapterAtomics() {
        return adapterAtomics;
    }

    int rails() {
        return regions.length;
    }

    /** The rails that its bytes should take, a bit for each; 0 if any will do. */
    int near() {
        return near;
    }

    /** The one rail that the peer's requests should reach it by; −1 if any will do, or there are several. */
    int nearestRail() {
        return Integer.bitCount(near) == 1 ? Integer.numberOfTrailingZeros(near) : -1;
    }

    int localKey(int rail) {
        return localKeys[rail];
    }

    int remoteKey(int rail) {
        return remoteKeys[rail];
    }

    @Override
    public long lockedBytes() {
        return locked ? length * regions.length : 0;
    }

    @Override
    public void close() {
        deregister();
        ended.run();
    }

    private void deregister() {
        for (int rail = 0; rail < regions.length; rail++) {
            if (regions[rail] != 0) {
                int result = VerbsMemory.deregister(regions[rail]);
                regions[rail] = 0;
                if (result < 0) {
                    LOG.error("a registration of {} bytes could not be ended: {}", length, Errno.message(-result));
                }
            }
        }
    }
}
