package io.sluice.cuda;

import io.sluice.engine.ProtocolException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * What one endpoint tells the other in the bootstrap. A later version may append to it.
 *
 * @param meetingPoint the name of the acceptor's socket; empty from the initiator
 * @param secret 16 bytes that the other side proves to know
 */
record CudaOffer(String meetingPoint, byte[] secret) {
    private static final byte VERSION = 1;

    byte[] toBytes() {
        byte[] name = meetingPoint.getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(2 + name.length + SecretSource.BYTES)
                .put(VERSION)
                .put((byte) name.length)
                .put(name)
                .put(secret)
                .array();
    }

    /**
     * Reads the peer's.
     *
     * @throws ProtocolException if it is damaged
     */
    static CudaOffer read(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        try {
            if (buffer.get() < VERSION) {
                throw new ProtocolException("the peer's cuda offer has no version");
            }
            byte[] name = new byte[Byte.toUnsignedInt(buffer.get())];
            buffer.get(name);
            byte[] secret = new byte[SecretSource.BYTES];
            buffer.get(secret);
            return new CudaOffer(new String(name, StandardCharsets.US_ASCII), secret);
        } catch (BufferUnderflowException e) {
            throw new ProtocolException("the peer's cuda offer is cut short", e);
        }
    }
}
