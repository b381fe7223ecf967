package io.sluice.engine;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * Identifies a region or a slice to a peer. It is 64 bytes on the wire and contains neither an address nor a
 * transport's key, so it may be passed through any directory. Treat it as a capability: a peer that holds it and can
 * connect may use the region.
 *
 * <p>Layout, network byte order: version (1 byte), memory kind (1), access (1), zero (1), CRC-32C of the other 60 bytes
 * (4), engine id (16), epoch (8), region id (8), key (8), offset (8), length (8).
 *
 * @param engineId the engine that owns the region
 * @param epoch identifies the run of that engine; a restarted engine has another
 * @param regionId identifies the region within that run; never reused
 * @param key proves to the owner that it issued exactly this region, offset, length and access
 * @param kind the kind of the region's memory
 * @param access what the holder may do
 * @param offset the start of the slice, in bytes from the region's start
 * @param length the length of the slice, in bytes
 */
public record RegionDescriptor(
        EngineId engineId,
        long epoch,
        long regionId,
        long key,
        MemoryKind kind,
        Set<Access> access,
        long offset,
        long length) {
    /** The length of the wire form, in bytes. */
    public static final int BYTES = 64;

    private static final byte VERSION = 1;
    private static final int CHECKSUM_AT = 4;
    private static final int BODY_AT = 8;

    /** Checks the ranges. */
    public RegionDescriptor {
        if (offset < 0 || length < 0 || offset + length < 0) {
            throw new InvalidDescriptorException("offset " + offset + " and length " + length + " are not a range");
        }
        access = Set.copyOf(access);
    }

    /**
     * Encodes the wire form.
     *
     * @return {@value #BYTES} bytes
     */
    public byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.BIG_ENDIAN);
        bytes.put(VERSION)
                .put((byte) kind.code())
                .put((byte) Access.toBits(access))
                .put((byte) 0);
        bytes.putInt(0);
        bytes.putLong(engineId.high()).putLong(engineId.low());
        bytes.putLong(epoch).putLong(regionId).putLong(key).putLong(offset).putLong(length);
        bytes.putInt(CHECKSUM_AT, checksum(bytes.array()));
        return bytes.array();
    }

    /**
     * Decodes the wire form. Only the form is checked; {@link Connection#attach} finds out whether the region exists.
     *
     * @param bytes exactly {@value #BYTES} bytes
     * @return the descriptor
     * @throws InvalidDescriptorException if the length, version, checksum or a field is wrong
     */
    public static RegionDescriptor fromBytes(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new InvalidDescriptorException("a region descriptor is " + BYTES + " bytes, not " + bytes.length);
        }
        if (bytes[0] != VERSION) {
            throw new InvalidDescriptorException("descriptor version " + Byte.toUnsignedInt(bytes[0])
                    + " is not supported; this is version " + VERSION);
        }
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN);
        if (in.getInt(CHECKSUM_AT) != checksum(bytes)) {
            throw new InvalidDescriptorException("the descriptor's checksum does not match: it was damaged in transit");
        }
        MemoryKind kind = MemoryKind.fromCode(Byte.toUnsignedInt(bytes[1]));
        if (bytes[3] != 0) {
            throw new InvalidDescriptorException("the descriptor's byte 3 is " + Byte.toUnsignedInt(bytes[3])
                    + ", which is not known to this version");
        }
        in.position(BODY_AT);
        EngineId engineId = new EngineId(in.getLong(), in.getLong());
        return new RegionDescriptor(
                engineId,
                in.getLong(),
                in.getLong(),
                in.getLong(),
                kind,
                Access.fromBits(Byte.toUnsignedInt(bytes[2])),
                in.getLong(),
                in.getLong());
    }

    private static int checksum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, CHECKSUM_AT);
        crc.update(bytes, BODY_AT, BYTES - BODY_AT);
        return (int) crc.getValue();
    }

    /** Omits the key, so that a log line does not grant access. */
    @Override
    public String toString() {
        return "RegionDescriptor[engine=" + engineId + ", epoch=" + Long.toHexString(epoch) + ", region=" + regionId
                + ", kind=" + kind + ", access=" + access + ", offset=" + offset + ", length=" + length + "]";
    }
}
