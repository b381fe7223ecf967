package io.sluice.cuda;

import io.sluice.engine.ProtocolException;
import io.sluice.jni.CudaMemory;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * How the target describes a region that is attached.
 *
 * @param way how another process reaches it
 * @param words whether its words may be changed
 * @param name of the registration
 * @param allocationBytes how long the allocation is
 * @param start where the slice begins in the allocation
 * @param gpu the GPU that it lies on
 * @param handle of the driver for other processes, if that is the way; else empty
 */
record MemoryKeys(Way way, boolean words, UUID name, long allocationBytes, long start, String gpu, byte[] handle) {
    private static final int WORDS = 1;

    /** How another process reaches the memory. */
    enum Way {
        /** Not at all. */
        NONE(0),
        /** By a descriptor over the Unix socket. */
        DESCRIPTOR(1),
        /** By the driver's handle. */
        HANDLE(2);

        /** The form on the wire, which no version changes. */
        private final int code;

        Way(int code) {
            this.code = code;
        }

        static Way of(int sharing) {
            return switch (sharing) {
                case CudaMemory.SHARING_DESCRIPTOR -> DESCRIPTOR;
                case CudaMemory.SHARING_HANDLE -> HANDLE;
                default -> NONE;
            };
        }

        private static Way fromCode(int code) {
            for (Way way : values()) {
                if (way.code == code) {
                    return way;
                }
            }
            throw new ProtocolException(
                    "memory of a GPU is to be reached in way " + code + ", which is not known here");
        }
    }

    byte[] toBytes() {
        byte[] id = gpu.getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(2 + 4 * Long.BYTES + 1 + id.length + handle.length)
                .put((byte) way.code)
                .put((byte) (words ? WORDS : 0))
                .putLong(name.getMostSignificantBits())
                .putLong(name.getLeastSignificantBits())
                .putLong(allocationBytes)
                .putLong(start)
                .put((byte) id.length)
                .put(id)
                .put(handle)
                .array();
    }

    /**
     * Reads the peer's.
     *
     * @param keys what its endpoint gave
     * @param sliceBytes how long the attached slice is
     * @throws ProtocolException if they are damaged, or the slice leaves its allocation
     */
    static MemoryKeys read(ByteBuffer keys, long sliceBytes) {
        try {
            Way way = Way.fromCode(Byte.toUnsignedInt(keys.get()));
            boolean words = (keys.get() & WORDS) != 0;
            UUID name = new UUID(keys.getLong(), keys.getLong());
            long allocationBytes = keys.getLong();
            long start = keys.getLong();
            byte[] id = new byte[Byte.toUnsignedInt(keys.get())];
            keys.get(id);
            byte[] handle = new byte[way == Way.HANDLE ? CudaMemory.IPC_HANDLE_BYTES : 0];
            keys.get(handle);
            if (start < 0 || sliceBytes < 0 || allocationBytes < sliceBytes || start > allocationBytes - sliceBytes) {
                throw new ProtocolException("a slice leaves its allocation");
            }
            return new MemoryKeys(
                    way, words, name, allocationBytes, start, new String(id, StandardCharsets.US_ASCII), handle);
        } catch (BufferUnderflowException e) {
            throw new ProtocolException("the keys of a region are cut short", e);
        }
    }
}
