package io.sluice.engine.transport;

import io.sluice.engine.MemoryKind;
import java.util.EnumMap;
import java.util.Map;

/**
 * The optional capabilities of a transport. The engine substitutes missing ones where it can.
 *
 * @param largestMessage the most bytes of one work request
 * @param writeWithSignal whether a {@link WorkRequest.Opcode#WRITE} can carry a {@linkplain WorkRequest#hasSignal()
 *     signal}; otherwise the engine posts a {@link WorkRequest.Opcode#SIGNAL} when the write has completed
 * @param callerThreadBytes the largest write or read for {@link InlineOperations#execute}, in bytes; 0 if there is none
 * @param gatherElements how many pieces of local memory a write or read of one remote range may have, at least 1; a
 *     request with several {@linkplain WorkRequest#hasPages() has pages}
 * @param preferredChunks the efficient chunk size in bytes for kinds of local memory; other kinds have {@link
 *     #PREFERRED_CHUNK}
 */
public record Capabilities(
        long largestMessage,
        boolean writeWithSignal,
        long callerThreadBytes,
        int gatherElements,
        Map<MemoryKind, Long> preferredChunks) {
    /** The preferred chunk of other kinds of memory: 512 KiB. */
    public static final long PREFERRED_CHUNK = 512 * 1024;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if a number of elements or a chunk is less than 1
     */
    public Capabilities {
        preferredChunks = Map.copyOf(preferredChunks);
        if (gatherElements < 1 || preferredChunks.values().stream().anyMatch(bytes -> bytes < 1)) {
            throw new IllegalArgumentException(
                    "elements of a gather list and chunks are at least 1: " + gatherElements + ", " + preferredChunks);
        }
    }

    /**
     * Creates capabilities with one piece of local memory a request and default chunks.
     *
     * @param largestMessage the most bytes of one work request
     * @param writeWithSignal whether a write can carry a signal
     * @param callerThreadBytes the largest write or read that the caller's thread may execute, in bytes; 0 if none
     */
    public Capabilities(long largestMessage, boolean writeWithSignal, long callerThreadBytes) {
        this(largestMessage, writeWithSignal, callerThreadBytes, 1, Map.of());
    }

    /**
     * Creates the same as {@link #Capabilities(long, boolean, long)} without operations on the caller's thread.
     *
     * @param largestMessage the most bytes of one work request
     * @param writeWithSignal whether a write can carry a signal
     */
    public Capabilities(long largestMessage, boolean writeWithSignal) {
        this(largestMessage, writeWithSignal, 0);
    }

    /**
     * Returns these capabilities with several pieces of local memory.
     *
     * @param elements the most pieces of local memory of a request, at least 1
     * @return the changed capabilities
     */
    public Capabilities withGatherElements(int elements) {
        return new Capabilities(largestMessage, writeWithSignal, callerThreadBytes, elements, preferredChunks);
    }

    /**
     * Returns these capabilities with a preferred chunk.
     *
     * @param kind the kind of local memory
     * @param bytes the size, at least 1; the window or {@link #largestMessage()} may make chunks shorter
     * @return the changed capabilities
     */
    public Capabilities withPreferredChunk(MemoryKind kind, long bytes) {
        Map<MemoryKind, Long> chunks = new EnumMap<>(MemoryKind.class);
        chunks.putAll(preferredChunks);
        chunks.put(kind, bytes);
        return new Capabilities(largestMessage, writeWithSignal, callerThreadBytes, gatherElements, chunks);
    }

    /**
     * Returns the preferred chunk.
     *
     * @param kind the kind of local memory
     * @return bytes, at least 1
     */
    public long preferredChunk(MemoryKind kind) {
        return preferredChunks.getOrDefault(kind, PREFERRED_CHUNK);
    }
}
