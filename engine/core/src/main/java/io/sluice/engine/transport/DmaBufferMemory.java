package io.sluice.engine.transport;

import io.sluice.engine.RegistrationException;
import io.sluice.engine.SluiceException;
import io.sluice.jni.Sockets;
import org.jspecify.annotations.Nullable;

/**
 * How adapters of other transports reach registered memory that is not the host's: as a DMA buffer of the kernel. A {@link
 * RegisteredMemory} implements it if its transport can export the memory; the engine gives it to {@link
 * Transport#registerExported}. Thread-safe.
 */
public interface DmaBufferMemory {
    /**
     * A DMA buffer, whose memory adapters reach as long as they have registered it.
     *
     * @param descriptor the kernel's descriptor of it, which this object owns
     * @param offset where the region begins in the buffer, in bytes; equal to the region's address modulo the size of a page
     */
    record Buffer(int descriptor, long offset) implements AutoCloseable {
        /** Closes the descriptor. Registrations of the buffer last. */
        @Override
        public void close() {
            Sockets.close(descriptor);
        }
    }

    /** Makes what adapters have written to memory of one device visible to it. Equal for all memory of the device. */
    @FunctionalInterface
    interface Flush {
        /**
         * Returns when the bytes that have arrived so far are visible to the device. Any thread, pollers included: takes microseconds.
         *
         * @throws SluiceException if the device fails: the connection ends with it
         */
        void flush();
    }

    /**
     * Exports the region's memory. May block.
     *
     * @return a new buffer, which the caller closes after it is registered
     * @throws RegistrationException if the device cannot; the message says why
     */
    Buffer export();

    /**
     * Returns how far an RDMA device is from the memory's device. Of several adapters the nearest carry the region's bytes, as long as
     * one of them works. Any thread; may block.
     *
     * @param adapter the RDMA device's name, such as {@code mlx5_0}
     * @return less for a nearer one, and equal for those as far; {@link Long#MAX_VALUE}, the default, if nothing is known
     */
    default long distanceTo(String adapter) {
        return Long.MAX_VALUE;
    }

    /**
     * Returns whether the memory is still that which was registered. Any thread, pollers included.
     *
     * @return false if it was freed since, even if other memory has its address now: peers must not attach it any more
     * @throws SluiceException if the device fails
     */
    boolean isCurrent();

    /**
     * Returns the step that must follow writes of adapters before their arrival is reported.
     *
     * @return {@code null} if the device orders them by itself
     */
    @Nullable
    Flush flush();
}
