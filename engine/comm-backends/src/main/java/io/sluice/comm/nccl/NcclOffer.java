package io.sluice.comm.nccl;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.TransportUnavailableException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What the two ends of a path tell each other at first.
 *
 * @param libraryVersion of NCCL, as it numbers them
 * @param device the stable id of the GPU
 * @param serves how many requests of the peer's this side takes at once
 * @param id of the communicator, which the side that connects draws; empty of the other
 */
record NcclOffer(int libraryVersion, String device, int serves, byte[] id) {
    private static final byte VERSION = 1;

    byte[] toBytes() {
        byte[] text = device.getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(3 + 2 * Integer.BYTES + text.length + id.length)
                .put(VERSION)
                .putInt(libraryVersion)
                .put((byte) text.length)
                .put(text)
                .putInt(serves)
                .put((byte) id.length)
                .put(id)
                .array();
    }

    /**
     * Checks that a communicator of both sides can be.
     *
     * @param ownDevice of this side
     * @param ownVersion of this side's library
     * @throws TransportUnavailableException if not; the message says what to do
     */
    void checkFits(String ownDevice, int ownVersion) {
        String reason = whyOutOfReach(ownDevice, device);
        if (reason != null) {
            throw new TransportUnavailableException(reason);
        }
        if (libraryVersion != ownVersion) {
            throw new TransportUnavailableException("this engine has NCCL " + NcclLibrary.versionText(ownVersion)
                    + " and the peer has " + NcclLibrary.versionText(libraryVersion)
                    + ": install the same on both hosts");
        }
    }

    /** Why two GPUs cannot be the ranks of a communicator, or null. */
    static @Nullable String whyOutOfReach(String own, String peer) {
        return own.equals(peer)
                ? "both engines use " + own + ", and NCCL takes no GPU twice: choose others by SLUICE_NCCL_GPU"
                : null;
    }

    /**
     * Reads the peer's; a later version may have appended something.
     *
     * @throws ProtocolException if it is damaged
     */
    static NcclOffer read(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        try {
            if (Byte.toUnsignedInt(buffer.get()) < VERSION) {
                throw new ProtocolException("the peer's nccl offer has no version");
            }
            int libraryVersion = buffer.getInt();
            byte[] text = new byte[Byte.toUnsignedInt(buffer.get())];
            buffer.get(text);
            int serves = buffer.getInt();
            if (serves < 1) {
                throw new ProtocolException("the peer takes " + serves + " requests at once over NCCL");
            }
            byte[] id = new byte[Byte.toUnsignedInt(buffer.get())];
            buffer.get(id);
            return new NcclOffer(libraryVersion, new String(text, StandardCharsets.US_ASCII), serves, id);
        } catch (BufferUnderflowException e) {
            throw new ProtocolException("the peer's nccl offer is cut short", e);
        }
    }
}
