package io.sluice.cuda;

import io.sluice.engine.AtomicDomain;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The regions of this engine that the peer reaches by itself: each is leased from its attachment until the peer has said that it has
 * unmapped it, or has stopped. On the loop's thread.
 */
final class OwnMemory {
    private static final Logger LOG = LoggerFactory.getLogger(OwnMemory.class);
    // as many may be attached, and as many have ended a moment ago
    private static final int TIMES_ATTACHED = 2;
    // whose copies are still under way at the peer, however few may be attached
    private static final int MORE = 1024;

    private final EndpointContext context;
    private final PeerLink link;
    private final Map<Long, Exposed> exposed = new HashMap<>();
    // handles whose descriptors are wanted, until the socket has room for them
    private final ArrayDeque<Long> wanted = new ArrayDeque<>();
    private boolean stopped;

    OwnMemory(EndpointContext context, PeerLink link) {
        this.context = context;
        this.link = link;
    }

    private static final class Exposed {
        private final ExportedRegion region;
        private final DeviceRegistration registration;
        private boolean ended;
        private boolean asked;

        Exposed(ExportedRegion region, DeviceRegistration registration) {
            this.region = region;
            this.registration = registration;
        }
    }

    /** Whether the peer can reach a region. Once it has stopped, no word of its would end a lease any more. */
    boolean reaches(ExportedRegion region) {
        return !stopped && region.registration() instanceof DeviceRegistration;
    }

    /**
     * Leases a region and returns its keys for the peer; null if it is closing, or its memory was freed.
     *
     * @throws ProtocolException if the peer does not give back what it has detached
     */
    byte @Nullable [] keysOf(long handle, ExportedRegion region) {
        if (!(region.registration() instanceof DeviceRegistration registration)) {
            return null;
        }
        if (exposed.size() >= (long) TIMES_ATTACHED * context.options().maxAttachedRegions() + MORE) {
            throw new ProtocolException("the peer attaches regions again and again, and does not give them back");
        }
        try {
            if (!registration.isCurrent()) {
                LOG.warn(
                        "{} was freed, and perhaps made again at its address: the attachment is refused",
                        region.memory());
                return null;
            }
            MemoryKeys keys = keys(region, registration);
            // without a lease nothing would keep the memory: the peer must not learn how to reach it
            if (!region.lease()) {
                return null;
            }
            exposed.put(handle, new Exposed(region, registration));
            return keys.toBytes();
        } catch (CudaException e) {
            LOG.warn("{} cannot be shared: the attachment is refused", region.memory(), e);
            return null;
        }
    }

    private static MemoryKeys keys(ExportedRegion region, DeviceRegistration registration) {
        return new MemoryKeys(
                registration.way(),
                region.atomicDomain() == AtomicDomain.TARGET_CPU,
                registration.name(),
                registration.allocationBytes(),
                region.memory().address() - registration.base(),
                registration.gpu().id(),
                registration.handle());
    }

    /** The attachment must not be used any more; the lease ends when the peer has said so. */
    void ended(long handle) {
        Exposed region = exposed.get(handle);
        if (region != null && !region.ended) {
            region.ended = true;
            context.send(CudaMessage.of(CudaMessage.ENDED, handle));
        }
    }

    /** The peer has unmapped it. */
    void released(long handle) {
        if (stopped) {
            return;
        }
        Exposed region = exposed.get(handle);
        if (region == null || !region.ended) {
            throw new ProtocolException("the peer gives back memory that it was not asked for");
        }
        exposed.remove(handle);
        region.region.release();
    }

    /** The peer wants the descriptor of an attachment's memory, which it asks for once. */
    void wanted(long handle) {
        if (stopped) {
            return;
        }
        Exposed region = exposed.get(handle);
        if (region == null || region.asked) {
            throw new ProtocolException(
                    "the peer requests a descriptor of a region that it has not attached, or a second time");
        }
        region.asked = true;
        wanted.addLast(handle);
        sendWanted();
    }

    /** Sends the descriptors that are wanted, as far as the socket has room: it says when there is more. */
    void sendWanted() {
        Long handle;
        while ((handle = wanted.peekFirst()) != null && send(handle)) {
            wanted.removeFirst();
        }
    }

    private boolean send(long handle) {
        ByteBuffer message = ByteBuffer.wrap(CudaMessage.of(CudaMessage.MEMORY, handle));
        try (SharedDescriptor descriptor = descriptor(exposed.get(handle))) {
            return descriptor == null ? link.send(message) : link.send(message, descriptor.number());
        }
    }

    /** That of a region's memory; null if there can be none. */
    private static @Nullable SharedDescriptor descriptor(@Nullable Exposed region) {
        if (region == null || region.ended || region.registration.way() != MemoryKeys.Way.DESCRIPTOR) {
            return null;
        }
        try {
            if (region.registration.isCurrent()) {
                return region.registration.descriptor();
            }
            LOG.warn("{} was freed: no descriptor is sent", region.region.memory());
        } catch (CudaException e) {
            LOG.warn("{} cannot be exported", region.region.memory(), e);
        }
        return null;
    }

    /** Whether the peer keeps a region that is closing. */
    boolean holdsClosedLease() {
        return exposed.values().stream().anyMatch(region -> region.ended && !region.region.isOpen());
    }

    /** Whether the peer may still reach memory. */
    boolean isReachable() {
        return !exposed.isEmpty();
    }

    /** The peer has stopped. */
    void peerStopped() {
        stopped = true;
        exposed.values().forEach(region -> region.region.release());
        exposed.clear();
        wanted.clear();
    }
}
