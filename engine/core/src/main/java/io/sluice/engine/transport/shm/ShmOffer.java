package io.sluice.engine.transport.shm;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.SecretSource;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The offer of one endpoint to the other in the bootstrap.
 *
 * @param host where the process runs
 * @param meetingPoint the name of the acceptor's; empty from the initiator
 * @param secret 16 bytes that a process at the meeting point must know
 * @param probeAddress the address of the probe of cross-memory attach in this process; 0 if it does not allow it
 * @param probe the probe's 16 bytes
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
     * Reads the peer's.
     *
     * @throws ProtocolException if it is damaged
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
            // the name becomes part of a path and of a socket's address
            if ((!meetingPoint.isEmpty() && !Rendezvous.isName(meetingPoint)) || buffer.hasRemaining()) {
                throw new ProtocolException("the peer's shm offer is damaged");
            }
            return new ShmOffer(host, meetingPoint, secret, probeAddress, probe);
        } catch (BufferUnderflowException e) {
            throw new ProtocolException("the peer's shm offer is cut short", e);
        }
    }

    private static byte[] take(ByteBuffer buffer, int count) {
        byte[] taken = new byte[count];
        buffer.get(taken);
        return taken;
    }
}
