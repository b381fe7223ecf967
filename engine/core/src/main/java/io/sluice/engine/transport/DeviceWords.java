package io.sluice.engine.transport;

import java.lang.foreign.MemorySegment;

/**
 * How the target's processor reaches registered memory that is not the host's: its 64-bit words, for signals and atomic
 * operations, and its bytes, for checksums. Nothing stores bytes this way: those come by the path that reaches the region. A
 * {@link RegisteredMemory} implements it if the transport can do that; the engine asks once, when the region is made, and takes
 * the first of its transports that has it.
 *
 * <p>Any thread, several at a time, also a poller's: a call takes microseconds and never waits for work of the device. The
 * caller holds a lease. Offsets are bytes from the region's start; the range lies within the region, a word at an address that is
 * a multiple of 8.
 */
public interface DeviceWords {
    /**
     * Reads a word.
     *
     * @param offset of the word
     * @return what it holds; bytes that the device has stored before it are visible to who reads them then
     * @throws IllegalStateException if the memory was freed or the device fails
     */
    long load(long offset);

    /**
     * Changes a word.
     *
     * @param offset of the word
     * @param value what it holds then
     * @throws IllegalStateException if the memory was freed or the device fails
     */
    void store(long offset, long value);

    /**
     * Adds to a word, atomically towards every method here and towards the device's own programs if their atomic operations reach
     * as far as the host.
     *
     * @param offset of the word
     * @param addend what to add
     * @return what it held before
     * @throws IllegalStateException if the memory was freed or the device fails
     */
    long fetchAdd(long offset, long addend);

    /**
     * Replaces a word, atomically as {@link #fetchAdd}.
     *
     * @param offset of the word
     * @param expected what it must hold
     * @param replacement what it holds then
     * @return what it held before
     * @throws IllegalStateException if the memory was freed or the device fails
     */
    long compareAndSwap(long offset, long expected, long replacement);

    /**
     * Copies bytes to memory of the host; they are there when it returns.
     *
     * @param offset of the first byte
     * @param to native memory, all of which is filled; 16 KiB at most
     * @throws IllegalStateException if the memory was freed or the device fails
     */
    void copyOut(long offset, MemorySegment to);
}
