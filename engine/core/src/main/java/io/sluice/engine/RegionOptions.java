package io.sluice.engine;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Options of a region.
 *
 * @param access the rights of peers; none keeps the region local
 * @param name the name under which any authenticated peer may {@linkplain Connection#lookup look the region up}, or
 *     {@code null} to keep it out of the directory; at most {@value #MAX_NAME_BYTES} bytes of UTF-8
 * @param atomicDomain what executes atomic operations and signals on the region's words
 * @param kind the kind of memory that {@link TransferEngine#allocate} allocates; ignored for registered memory
 * @param device the stable id of the device of that memory; {@code null} for {@link MemoryKind#HOST}
 */
public record RegionOptions(
        Set<Access> access,
        @Nullable String name,
        AtomicDomain atomicDomain,
        MemoryKind kind,
        @Nullable String device) {
    /** The longest name, in bytes of UTF-8. */
    public static final int MAX_NAME_BYTES = 255;

    /** Checks the options and copies the set. */
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
     * Creates options for host memory.
     *
     * @param access the rights of peers
     * @param name the name, or {@code null}
     * @param atomicDomain what executes atomic operations and signals
     */
    public RegionOptions(Set<Access> access, @Nullable String name, AtomicDomain atomicDomain) {
        this(access, name, atomicDomain, MemoryKind.HOST, null);
    }

    /**
     * Creates options for host memory whose atomic operations the host's processors execute.
     *
     * @param access the rights of peers
     * @param name the name, or {@code null}
     */
    public RegionOptions(Set<Access> access, @Nullable String name) {
        this(access, name, AtomicDomain.TARGET_CPU);
    }

    /**
     * Returns options for a region that no peer reaches: a source or target of this engine's transfers.
     *
     * @return options with no remote rights
     */
    public static RegionOptions local() {
        return new RegionOptions(Set.of(), null);
    }

    /**
     * Returns options for a region that peers may read but not write.
     *
     * @return options with {@link Access#REMOTE_READ}
     */
    public static RegionOptions readOnly() {
        return new RegionOptions(Set.of(Access.REMOTE_READ), null);
    }

    /**
     * Returns options for a region that peers may read and write.
     *
     * @return options with both rights
     */
    public static RegionOptions readWrite() {
        return new RegionOptions(Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE), null);
    }

    /**
     * Returns these options with a name that peers can look up.
     *
     * @param regionName unique among the engine's open regions
     * @return new options
     */
    public RegionOptions named(String regionName) {
        return new RegionOptions(access, Objects.requireNonNull(regionName, "regionName"), atomicDomain, kind, device);
    }

    /**
     * Returns these options with another atomic domain. The default is {@link AtomicDomain#TARGET_CPU}.
     *
     * @param domain what executes atomic operations and signals
     * @return new options
     */
    public RegionOptions atomics(AtomicDomain domain) {
        return new RegionOptions(access, name, domain, kind, device);
    }

    /**
     * Returns these options for memory that {@link TransferEngine#allocate} allocates on a device.
     *
     * @param memoryKind any but {@link MemoryKind#HOST}
     * @param deviceId the device's stable id, such as a GPU's UUID
     * @return new options
     */
    public RegionOptions on(MemoryKind memoryKind, String deviceId) {
        return new RegionOptions(access, name, atomicDomain, memoryKind, Objects.requireNonNull(deviceId, "deviceId"));
    }
}
