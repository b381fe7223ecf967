package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.TransferEngine;
import io.sluice.jni.MachineFacts;
import java.lang.foreign.Arena;
import java.util.Locale;

/** Whose memory a region is of. */
public enum RegionMemory {
    /** The engine's, which it has allocated. */
    ALLOCATED,
    /** This program's, registered with the engine. */
    REGISTERED;

    private static final long PAGE_BYTES = 4096;

    /**
     * Makes a region, zeroed.
     *
     * @param bytes its size
     * @param arena a shared one, to be closed after the region; not every memory comes from there
     * @throws RegistrationException if the memory is not available
     */
    public MemoryRegion region(TransferEngine engine, long bytes, RegionOptions options, Arena arena) {
        return switch (this) {
            case ALLOCATED -> engine.allocate(bytes, options);
            case REGISTERED -> engine.register(arena.allocate(available(bytes), PAGE_BYTES), options);
        };
    }

    /** An arena zeroes its memory, and the kernel ends a process that there is none left for. */
    private static long available(long bytes) {
        long available = MachineFacts.availableMemory();
        if (available >= 0 && available < bytes) {
            throw new RegistrationException("cannot allocate " + bytes + " bytes: " + available
                    + " are available; ask for less, or raise the memory limit of the container");
        }
        return bytes;
    }

    /** Its name as an option's value. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
