package io.sluice.cuda;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.SecretSource;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The offer of an endpoint in the bootstrap. A later version may append to it.
 *
 * @param meetingPoint the name of the acceptor's socket; empty from the initiator
 * @param secret 16 bytes that the other side proves to know
 */
record CudaOffer(String meetingPoint, byte[] secret) {
    private static final byte VERSION = 1;
    private static final String PREFIX = "sluice-cuda-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "[0-9a-f]{" + 2 * SecretSource.BYTES + "}");

    /** The name of a meeting point. */
    static String meetingPoint(byte[] random) {
        return PREFIX + HexFormat.of().formatHex(random);
    }

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
            String meetingPoint = new String(name, StandardCharsets.US_ASCII);
            if (!meetingPoint.isEmpty() && !NAME.matcher(meetingPoint).matches()) {
                throw new ProtocolException("the peer's cuda offer names a meeting point that no engine makes");
            }
            return new CudaOffer(meetingPoint, secret);
        } catch (BufferUnderflowException e) {
            throw new ProtocolException("the peer's cuda offer is cut short", e);
        }
    }
}
