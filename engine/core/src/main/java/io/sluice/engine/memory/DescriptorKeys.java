package io.sluice.engine.memory;

import io.sluice.engine.Access;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.security.Hmac;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Set;
import javax.crypto.Mac;

/**
 * Issues and recognizes descriptors. The key of a descriptor is the beginning of a MAC over the rights that it grants, under a
 * secret that never leaves the engine. So a peer cannot widen a slice, add a right or name another region, and the
 * engine need not remember what it issued.
 */
public final class DescriptorKeys {
    // creating one takes longer than using it, and a peer may have thousands of descriptors checked
    private final Mac mac;
    private final EngineId engineId;
    private final long epoch;

    public DescriptorKeys(EngineId engineId, long epoch) {
        byte[] secret = new byte[32];
        new SecureRandom().nextBytes(secret);
        mac = Hmac.keyed(secret);
        this.engineId = engineId;
        this.epoch = epoch;
    }

    /** Whether a descriptor belongs to this engine, in this or another run. */
    boolean isOfEngine(RegionDescriptor descriptor) {
        return descriptor.engineId().equals(engineId);
    }

    /** Whether a descriptor of this engine belongs to this run. */
    boolean isOfRun(RegionDescriptor descriptor) {
        return descriptor.epoch() == epoch;
    }

    RegionDescriptor issue(long regionId, MemoryKind kind, Set<Access> access, long offset, long length) {
        return new RegionDescriptor(
                engineId, epoch, regionId, key(regionId, kind, access, offset, length), kind, access, offset, length);
    }

    boolean isGenuine(RegionDescriptor descriptor) {
        long key = key(
                descriptor.regionId(),
                descriptor.kind(),
                descriptor.access(),
                descriptor.offset(),
                descriptor.length());
        return MessageDigest.isEqual(toBytes(key), toBytes(descriptor.key()));
    }

    private long key(long regionId, MemoryKind kind, Set<Access> access, long offset, long length) {
        byte[] granted = ByteBuffer.allocate(34)
                .putLong(epoch)
                .putLong(regionId)
                .putLong(offset)
                .putLong(length)
                .put((byte) kind.code())
                .put((byte) Access.toBits(access))
                .array();
        synchronized (mac) {
            return ByteBuffer.wrap(Hmac.of(mac, "descriptor", granted)).getLong();
        }
    }

    private static byte[] toBytes(long value) {
        return ByteBuffer.allocate(8).putLong(value).array();
    }
}
