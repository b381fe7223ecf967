package io.sluice.comm.rounds;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Exchanges messages between all ranks. What is sent lies in an area for each other rank, and what arrives too; both have
 * {@link #areaBytes} bytes of the host's memory. Everything but {@link #terms} and {@link #check} is for one thread.
 * Failures are exceptions.
 */
public interface Exchange {
    /** What begins here in an area was announced by an exchange before it; the announcements begin before it. */
    int ANNOUNCED_AT = 128;

    /** Called again and again while the exchange waits: throws what ends the wait. */
    @FunctionalInterface
    interface Check {
        /** Throws if there is nothing to wait for any more. */
        void run();
    }

    /**
     * Returns what the other ranks should know before they open it.
     *
     * @return as many bytes on all ranks
     */
    byte[] terms();

    /**
     * Looks at the terms of all ranks.
     *
     * @param all by rank
     * @throws io.sluice.engine.SluiceException if they do not fit; on all ranks alike
     */
    void check(List<byte[]> all);

    /**
     * Opens it. A collective.
     *
     * @param check called while it waits
     */
    void open(Check check);

    /**
     * Describes it, for the log.
     *
     * @return the library and its version
     */
    String description();

    /**
     * Returns the length of each area.
     *
     * @return bytes
     */
    int areaBytes();

    /**
     * Returns the area of what is sent to a rank.
     *
     * @param rank another rank
     * @return to be written while no exchange is under way
     */
    MemorySegment outgoing(int rank);

    /**
     * Returns the area of what arrives from a rank.
     *
     * @param rank another rank
     * @return to be read while no exchange is under way
     */
    MemorySegment incoming(int rank);

    /**
     * Starts an exchange. The ranks' numbers of bytes agree. What arrives must have been read when this rank starts the
     * next exchange but one at the same offset.
     *
     * @param offset where all messages begin in their areas
     * @param sends by rank, how many bytes go there; 0 for none
     * @param receives by rank, how many come from there
     */
    void start(int offset, int[] sends, int[] receives);

    /**
     * Returns whether the exchange that was started is done.
     *
     * @return true if the areas are free
     */
    boolean isDone();

    /**
     * Ends it, and gives its memory back.
     *
     * @param isFailed whether an exchange may be under way, which is aborted
     */
    void close(boolean isFailed);

    /**
     * Returns what follows from a failure and what to do then, to be appended to its message.
     *
     * @return a sentence that begins with a space
     */
    String consequence();
}
