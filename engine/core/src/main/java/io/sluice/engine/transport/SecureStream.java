package io.sluice.engine.transport;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A non-blocking socket whose bytes are encrypted and authenticated in transit. Confined to one event loop; its buffers
 * are bounded. It does not own the descriptor.
 */
public interface SecureStream {
    /** The room that a target needs to be received into without an intermediate copy. */
    int RECORD_BYTES = 17 * 1024;

    /**
     * Receives the available bytes.
     *
     * @param target receives the bytes
     * @return the number of bytes; 0 at the end of the stream; or a negative errno, such as {@code EAGAIN} if nothing
     *     is available yet
     * @throws IOException if the received bytes are not what the peer sent
     */
    long receive(ByteBuffer target) throws IOException;

    /**
     * Returns whether bytes can be received that the descriptor's readiness does not cover.
     *
     * @return true if {@link #receive} returns bytes immediately
     */
    boolean hasReceived();

    /**
     * Sends as much as the kernel accepts.
     *
     * @param source the bytes to send, which may be reused after the call
     * @return how many bytes were accepted, of which some may be {@linkplain #hasUnsent() unsent}; or a negative errno,
     *     such as {@code EAGAIN} if none were
     * @throws IOException if the stream is broken
     */
    long send(ByteBuffer source) throws IOException;

    /**
     * Returns whether accepted bytes are waiting for the kernel.
     *
     * @return true if {@link #flush} must be called when the descriptor becomes writable
     */
    boolean hasUnsent();

    /**
     * Sends accepted bytes.
     *
     * @return 0 if nothing is left, or a negative errno
     */
    long flush();
}
