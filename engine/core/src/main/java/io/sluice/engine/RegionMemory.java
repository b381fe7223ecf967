package io.sluice.engine;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where the bytes of a region lie: the kind of memory, its device, address and length. The processor reaches the bytes of
 * {@link MemoryKind#HOST} memory, as a {@link MemorySegment}; other memory is known by its address alone, which only transports
 * and the device's own programs can use. Immutable; any thread.
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
     * Memory of the host.
     *
     * @param segment its bytes
     * @return the memory, alive as long as the segment's scope
     */
    public static RegionMemory host(MemorySegment segment) {
        MemorySegment.Scope scope = Objects.requireNonNull(segment, "segment").scope();
        return new RegionMemory(MemoryKind.HOST, null, segment.address(), segment.byteSize(), segment, scope::isAlive);
    }

    /**
     * Memory of a device, which the processor does not touch.
     *
     * @param kind any but {@link MemoryKind#HOST}
     * @param device the device's stable id, such as a GPU's UUID; never an ordinal, which differs by process
     * @param address in the device's address space
     * @param length bytes, 0 or more
     * @param alive false once the memory has been freed; any thread asks it, often
     * @return the memory
     * @throws IllegalArgumentException if the kind is {@link MemoryKind#HOST}, or address and length are no range
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
     * The kind.
     *
     * @return as registered or allocated
     */
    public MemoryKind kind() {
        return kind;
    }

    /**
     * The device's stable id.
     *
     * @return such as a GPU's UUID; {@code null} for memory of the host
     */
    public @Nullable String device() {
        return device;
    }

    /**
     * Where the first byte lies.
     *
     * @return an address of this process, or of the device if the kind is not {@link MemoryKind#HOST}
     */
    public long address() {
        return address;
    }

    /**
     * How many bytes there are.
     *
     * @return bytes
     */
    public long length() {
        return length;
    }

    /**
     * Whether the memory has not been freed. It may be freed at any moment after this, but for a region that is leased.
     *
     * @return false once it is freed
     */
    public boolean isAlive() {
        return alive.getAsBoolean();
    }

    /**
     * Whether the processor can touch the bytes.
     *
     * @return true if {@link #segment()} gives them
     */
    public boolean isHost() {
        return host != null;
    }

    /**
     * The bytes, for the processor. Access to memory that was freed raises {@link IllegalStateException}.
     *
     * @return the segment
     * @throws MemoryNotAccessibleException if the processor cannot touch them
     */
    public MemorySegment segment() {
        MemorySegment segment = host;
        if (segment == null) {
            throw new MemoryNotAccessibleException(this);
        }
        return segment;
    }

    /**
     * A part.
     *
     * @param offset bytes from the start
     * @param bytes how many
     * @return a view of the same memory, with its lifetime
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
