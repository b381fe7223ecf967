package io.sluice.engine.transport.shm;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.SecretSource;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * One endpoint's offer to the other in the bootstrap.
 *
 * @param host where the process runs
 * @param meetingPoint the name of the acceptor's meeting point; empty from the initiator
 * @param secret 16 bytes that a process must present at the meeting point
 * @param probeAddress the address of this process's probe for cross-memory attach; 0 if that is not allowed
 * @param probe the 16 bytes of the probe
 */
record ShmOffer(String host, String meetingPoint, byte[] secret, long probeAddress, byte[] probe) {
    static final int SECRET_BYTES = SecretSource.BYTES;
    static final int PROBE_BYTES = 16;
    private static final byte VERSION = 2;
    private static final int MOST_TEXT_BYTES = 255;

    boolean allowsCrossMemoryAttach() {
        return probeAddress != 0;
    }

    byte[] toBytes() {
        byte[] hostText = text(host);
        byte[] meetingText = text(meetingPoint);
        return ByteBuffer.allocate(1 + 1 + hostText.length + 1 + meetingText.length + SECRET_BYTES + 8 + PROBE_BYTES)
                .put(VERSION)
                .put((byte) hostText.length)
                .put(hostText)
                .put((byte) meetingText.length)
                .put(meetingText)
                .put(secret)
                .putLong(probeAddress)
                .put(probe)
                .array();
    }

    private static byte[] text(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > MOST_TEXT_BYTES) {
            throw new IllegalArgumentException("too long for an offer: " + value);
        }
        return bytes;
    }

    /**
     * Parses the peer's offer.
     *
     * @throws ProtocolException if it is malformed
     */
    static ShmOffer read(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        try {
            if (buffer.get() != VERSION) {
                throw new ProtocolException("the peer's shm offer is of another version");
            }
            String host = new String(take(buffer, Byte.toUnsignedInt(buffer.get())), StandardCharsets.UTF_8);
            String meetingPoint = new String(take(buffer, Byte.toUnsignedInt(buffer.get())), StandardCharsets.US_ASCII);
            byte[] secret = take(buffer, SECRET_BYTES);
            long probeAddress = buffer.getLong();
            byte[] probe = take(buffer, PROBE_BYTES);
            // the name becomes part of a path and of a socket address
            if ((!meetingPoint.isEmpty() && !Rendezvous.isName(meetingPoint)) || buffer.hasRemaining()) {
                throw new ProtocolException("the peer's shm offer has an invalid meeting point");
            }
            return new ShmOffer(host, meetingPoint, secret, probeAddress, probe);
        } catch (BufferUnderflowException e) {
            throw new ProtocolException("the peer's shm offer is truncated", e);
        }
    }

    private static byte[] take(ByteBuffer buffer, int count) {
        byte[] taken = new byte[count];
        buffer.get(taken);
        return taken;
    }
}
