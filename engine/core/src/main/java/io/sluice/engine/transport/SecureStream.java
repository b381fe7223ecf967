package io.sluice.engine.transport;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A socket that does not block, whose bytes are encrypted and authenticated on the way. Confined to one event loop; its buffers are
 * bounded. It does not own the descriptor.
 */
public interface SecureStream {
    /** The room that a target needs to be received into without a copy in between. */
    int RECORD_BYTES = 17 * 1024;

    /**
     * Receives what is there.
     *
     * @param target gets the bytes
     * @return how many; 0 at the end of the stream; a negative errno, of which {@code EAGAIN} says that nothing is there yet
     * @throws IOException if what came is not what the peer has sent
     */
    long receive(ByteBuffer target) throws IOException;

    /**
     * Whether there is something to receive that the descriptor's readiness does not cover.
     *
     * @return true if {@link #receive} gives something at once
     */
    boolean hasReceived();

    /**
     * Sends what the kernel takes.
     *
     * @param source what to send; it may be reused after the call
     * @return how many bytes were taken, of which some may be {@linkplain #hasUnsent() unsent}; a negative errno, of which
     *     {@code EAGAIN} says that none were
     * @throws IOException if the stream is broken
     */
    long send(ByteBuffer source) throws IOException;

    /**
     * Whether bytes that were taken are waiting for the kernel.
     *
     * @return true if {@link #flush} must be called when the descriptor becomes writable
     */
    boolean hasUnsent();

    /**
     * Sends what was taken.
     *
     * @return 0 if nothing is left, or a negative errno
     */
    long flush();
}
