package io.sluice.engine;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How a region is registered.
 *
 * @param access what peers may do; none keeps the region local
 * @param name the name under which any authenticated peer may {@linkplain Connection#lookup look the region up}, or
 *     {@code null} to keep it out of the directory; at most {@value #MAX_NAME_BYTES} bytes of UTF-8
 * @param atomicDomain who carries out atomic operations and signals on the region's words
 * @param kind of the memory that {@link TransferEngine#allocate} makes; what is registered has its own
 * @param device on which that memory lies, by its stable id; {@code null} for {@link MemoryKind#HOST}
 */
public record RegionOptions(
        Set<Access> access,
        @Nullable String name,
        AtomicDomain atomicDomain,
        MemoryKind kind,
        @Nullable String device) {
    /** The longest name, in bytes of UTF-8. */
    public static final int MAX_NAME_BYTES = 255;

    /** Checks and copies. */
    public RegionOptions {
        Objects.requireNonNull(access, "access");
        Objects.requireNonNull(atomicDomain, "atomicDomain");
        Objects.requireNonNull(kind, "kind");
        if ((kind == MemoryKind.HOST) != (device == null)) {
            throw new IllegalArgumentException(
                    kind == MemoryKind.HOST
                            ? "memory of the host lies on no device: " + device
                            : "name the device whose " + kind + " memory is meant");
        }
        access = access.isEmpty() ? Set.of() : Collections.unmodifiableSet(EnumSet.copyOf(access));
        if (name != null) {
            int bytes = name.getBytes(StandardCharsets.UTF_8).length;
            if (bytes == 0 || bytes > MAX_NAME_BYTES) {
                throw new IllegalArgumentException(
                        "a region's name is 1 to " + MAX_NAME_BYTES + " bytes, not " + bytes);
            }
        }
    }

    /**
     * Of memory of the host.
     *
     * @param access as above
     * @param name as above
     * @param atomicDomain as above
     */
    public RegionOptions(Set<Access> access, @Nullable String name, AtomicDomain atomicDomain) {
        this(access, name, atomicDomain, MemoryKind.HOST, null);
    }

    /**
     * With atomic operations by the host's processors, as is the default.
     *
     * @param access as above
     * @param name as above
     */
    public RegionOptions(Set<Access> access, @Nullable String name) {
        this(access, name, AtomicDomain.TARGET_CPU);
    }

    /**
     * Not reachable by any peer: a source or target of this engine's own transfers.
     *
     * @return options with no remote rights
     */
    public static RegionOptions local() {
        return new RegionOptions(Set.of(), null);
    }

    /**
     * Peers may read, not write.
     *
     * @return options with {@link Access#REMOTE_READ}
     */
    public static RegionOptions readOnly() {
        return new RegionOptions(Set.of(Access.REMOTE_READ), null);
    }

    /**
     * Peers may read and write.
     *
     * @return options with both rights
     */
    public static RegionOptions readWrite() {
        return new RegionOptions(Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE), null);
    }

    /**
     * The same rights under a name that peers can look up.
     *
     * @param regionName unique among the engine's open regions
     * @return new options
     */
    public RegionOptions named(String regionName) {
        return new RegionOptions(access, Objects.requireNonNull(regionName, "regionName"), atomicDomain, kind, device);
    }

    /**
     * The same with another atomic domain. The default is {@link AtomicDomain#TARGET_CPU}.
     *
     * @param domain who carries out atomic operations and signals
     * @return new options
     */
    public RegionOptions atomics(AtomicDomain domain) {
        return new RegionOptions(access, name, domain, kind, device);
    }

    /**
     * The same for memory of a device, which {@link TransferEngine#allocate} then makes there.
     *
     * @param memoryKind any but {@link MemoryKind#HOST}
     * @param deviceId the device's stable id, such as a GPU's UUID
     * @return new options
     */
    public RegionOptions on(MemoryKind memoryKind, String deviceId) {
        return new RegionOptions(access, name, atomicDomain, memoryKind, Objects.requireNonNull(deviceId, "deviceId"));
    }
}
