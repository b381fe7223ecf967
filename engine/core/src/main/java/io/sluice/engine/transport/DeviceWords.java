package io.sluice.engine.transport;

import java.lang.foreign.MemorySegment;

/**
 * How the target's processor reaches registered memory that is not the host's: its 64-bit words, for signals and atomic
 * operations, and its bytes, for checksums. Nothing stores bytes this way: those come by the path that reaches the region. A
 * {@link RegisteredMemory} implements it if the transport can do that; the engine asks once, when the region is made, and takes
 * the first of its transports that has it.
 *
 * <p>Methods are called by any thread, pollers included, and by several at once: a call must take only microseconds and
 * never wait for work of the device. The caller holds a lease. Offsets are bytes from the region's start; ranges lie
 * within the region, and words are aligned to 8 bytes.
 */
public interface DeviceWords {
    /**
     * Reads a word.
     *
     * @param offset the offset of the word
     * @return the value; bytes that the device stored before it are visible to later reads
     * @throws IllegalStateException if the memory was freed or the device fails
     */
    long load(long offset);

    /**
     * Stores a word.
     *
     * @param offset the offset of the word
     * @param value the new value
     * @throws IllegalStateException if the memory was freed or the device fails
     */
    void store(long offset, long value);

    /**
     * Adds to a word, atomically with respect to all methods here and to the device's system-wide atomic operations.
     *
     * @param offset the offset of the word
     * @param addend the number to add
     * @return the previous value
     * @throws IllegalStateException if the memory was freed or the device fails
     */
    long fetchAdd(long offset, long addend);

    /**
     * Replaces a word if it has the expected value, atomically like {@link #fetchAdd}.
     *
     * @param offset the offset of the word
     * @param expected the expected value
     * @param replacement the new value
     * @return the previous value
     * @throws IllegalStateException if the memory was freed or the device fails
     */
    long compareAndSwap(long offset, long expected, long replacement);

    /**
     * Copies bytes to host memory, completely before it returns.
     *
     * @param offset the offset of the first byte
     * @param to native memory to fill completely; at most 16 KiB
     * @throws IllegalStateException if the memory was freed or the device fails
     */
    void copyOut(long offset, MemorySegment to);
}
