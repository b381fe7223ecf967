package io.sluice.engine;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The location of a region's bytes: the kind of memory, its device, address and length. The processor accesses {@link
 * MemoryKind#HOST} memory as a {@link MemorySegment}; other memory has only an address, which transports and programs
 * of the device use. Immutable and thread-safe.
 */
public final class RegionMemory {
    private final MemoryKind kind;
    private final @Nullable String device;
    private final long address;
    private final long length;
    private final @Nullable MemorySegment host;
    private final BooleanSupplier alive;

    private RegionMemory(
            MemoryKind kind,
            @Nullable String device,
            long address,
            long length,
            @Nullable MemorySegment host,
            BooleanSupplier alive) {
        this.kind = kind;
        this.device = device;
        this.address = address;
        this.length = length;
        this.host = host;
        this.alive = alive;
    }

    /**
     * Describes host memory.
     *
     * @param segment the bytes
     * @return the memory, alive as long as the segment's scope
     */
    public static RegionMemory host(MemorySegment segment) {
        MemorySegment.Scope scope = Objects.requireNonNull(segment, "segment").scope();
        return new RegionMemory(MemoryKind.HOST, null, segment.address(), segment.byteSize(), segment, scope::isAlive);
    }

    /**
     * Describes memory of a device, which the processor does not access.
     *
     * @param kind any but {@link MemoryKind#HOST}
     * @param device the device's stable id, such as a GPU's UUID; never an ordinal, which differs by process
     * @param address an address in the device's address space
     * @param length bytes, 0 or more
     * @param alive returns false once the memory has been freed; called often and from any thread
     * @return the memory
     * @throws IllegalArgumentException if the kind is {@link MemoryKind#HOST}, or address and length are not a range
     */
    public static RegionMemory device(
            MemoryKind kind, String device, long address, long length, BooleanSupplier alive) {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(alive, "alive");
        if (kind == MemoryKind.HOST) {
            throw new IllegalArgumentException("memory of the host is described by its segment");
        }
        if (length < 0 || Long.compareUnsigned(address + length, address) < 0) {
            throw new IllegalArgumentException("address 0x%x and length %d are not a range".formatted(address, length));
        }
        return new RegionMemory(kind, device, address, length, null, alive);
    }

    /**
     * Returns the kind of the memory.
     *
     * @return the kind
     */
    public MemoryKind kind() {
        return kind;
    }

    /**
     * Returns the device's stable id.
     *
     * @return such as a GPU's UUID; {@code null} for memory of the host
     */
    public @Nullable String device() {
        return device;
    }

    /**
     * Returns the address of the first byte.
     *
     * @return an address of this process, or of the device if the kind is not {@link MemoryKind#HOST}
     */
    public long address() {
        return address;
    }

    /**
     * Returns the length.
     *
     * @return bytes
     */
    public long length() {
        return length;
    }

    /**
     * Returns whether the memory has not been freed yet. Unless the region is leased, it may be freed at any moment
     * after the call.
     *
     * @return false once it has been freed
     */
    public boolean isAlive() {
        return alive.getAsBoolean();
    }

    /**
     * Returns whether the processor can access the bytes.
     *
     * @return true if {@link #segment()} returns them
     */
    public boolean isHost() {
        return host != null;
    }

    /**
     * Returns the bytes as a segment. Accessing memory that has been freed throws {@link IllegalStateException}.
     *
     * @return the segment
     * @throws MemoryNotAccessibleException if the processor cannot access them
     */
    public MemorySegment segment() {
        MemorySegment segment = host;
        if (segment == null) {
            throw new MemoryNotAccessibleException(this);
        }
        return segment;
    }

    /**
     * Returns a part of this memory.
     *
     * @param offset bytes from the start
     * @param bytes the length
     * @return a view of the same memory, with the same lifetime
     * @throws IndexOutOfBoundsException if the range leaves the memory
     */
    public RegionMemory slice(long offset, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, length);
        MemorySegment segment = host;
        return new RegionMemory(
                kind, device, address + offset, bytes, segment == null ? null : segment.asSlice(offset, bytes), alive);
    }

    @Override
    public String toString() {
        return length + " bytes of " + kind + (device == null ? "" : " memory of " + device)
                + (isAlive() ? "" : ", freed");
    }
}
