package io.sluice.experts.backend;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Memory of the same length on each rank, which all other ranks can write. Its bytes are zero at first. */
public interface SymmetricMemory extends CommMemory {
    /**
     * Returns another rank's bytes where this process has them mapped. What is stored there the rank finds after a
     * {@linkplain CommBackend#signal signal} that follows the stores.
     *
     * @param rank a rank, not this one
     * @return {@link #bytes()} bytes, to be accessed on the team's loop alone, which throws {@link IllegalStateException}
     *     once the rank is lost; {@code null} if they are not mapped
     */
    @Nullable
    MemorySegment mapped(int rank);
}
