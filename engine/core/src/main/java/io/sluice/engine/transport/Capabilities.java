package io.sluice.engine.transport;

import io.sluice.engine.MemoryKind;
import java.util.EnumMap;
import java.util.Map;

/**
 * The capabilities of a transport beyond those of every transport. The engine supplies what is lacking where it can.
 *
 * @param largestMessage the most bytes of one work request
 * @param writeWithSignal whether a {@link WorkRequest.Opcode#WRITE} can carry a {@linkplain WorkRequest#hasSignal()
 *     signal}; otherwise the engine posts a {@link WorkRequest.Opcode#SIGNAL} when the write has completed
 * @param callerThreadBytes up to which size a write or read may be carried out by {@link InlineOperations#execute}, in bytes; 0
 *     if none
 * @param gatherElements in how many pieces the local memory of a write or read may be whose remote memory is one, at least 1; with
 *     more than 1 such a request has {@linkplain WorkRequest#hasPages() pages}
 * @param preferredChunks by kind of local memory, how many bytes make a chunk worth its cost; kinds that are not named have
 *     {@link #PREFERRED_CHUNK}
 */
public record Capabilities(
        long largestMessage,
        boolean writeWithSignal,
        long callerThreadBytes,
        int gatherElements,
        Map<MemoryKind, Long> preferredChunks) {
    /** The preferred chunk of a kind of memory for which a transport names none: 512 KiB. */
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
     * Of a transport whose requests have one piece of local memory, and which prefers no chunk.
     *
     * @param largestMessage the most bytes of one work request
     * @param writeWithSignal whether a write can carry a signal
     * @param callerThreadBytes up to which size the caller's thread may carry out a write or read, in bytes; 0 if none
     */
    public Capabilities(long largestMessage, boolean writeWithSignal, long callerThreadBytes) {
        this(largestMessage, writeWithSignal, callerThreadBytes, 1, Map.of());
    }

    /**
     * As {@link #Capabilities(long, boolean, long)}, where the caller's thread cannot carry out anything.
     *
     * @param largestMessage the most bytes of one work request
     * @param writeWithSignal whether a write can carry a signal
     */
    public Capabilities(long largestMessage, boolean writeWithSignal) {
        this(largestMessage, writeWithSignal, 0);
    }

    /**
     * The same with lists of pieces.
     *
     * @param elements in how many pieces the local memory of a request may be, at least 1
     * @return the changed capabilities
     */
    public Capabilities withGatherElements(int elements) {
        return new Capabilities(largestMessage, writeWithSignal, callerThreadBytes, elements, preferredChunks);
    }

    /**
     * The same with a preferred chunk.
     *
     * @param kind of the local memory
     * @param bytes how long, at least 1; a chunk is shorter where the window or {@link #largestMessage()} wants it
     * @return the changed capabilities
     */
    public Capabilities withPreferredChunk(MemoryKind kind, long bytes) {
        Map<MemoryKind, Long> chunks = new EnumMap<>(MemoryKind.class);
        chunks.putAll(preferredChunks);
        chunks.put(kind, bytes);
        return new Capabilities(largestMessage, writeWithSignal, callerThreadBytes, gatherElements, chunks);
    }

    /**
     * How long chunks should be at least.
     *
     * @param kind of the local memory
     * @return bytes, at least 1
     */
    public long preferredChunk(MemoryKind kind) {
        return preferredChunks.getOrDefault(kind, PREFERRED_CHUNK);
    }
}
