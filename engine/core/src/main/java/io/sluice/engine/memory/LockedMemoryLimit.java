package io.sluice.engine.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The process's limit of locked memory. */
public final class LockedMemoryLimit {
    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final String NAME = "Max locked memory";

    private LockedMemoryLimit() {}

    /** The soft limit in bytes, which may be changed while the process runs; the largest number if there is none. */
    public static long bytes() {
        try {
            return of(Files.readAllLines(LIMITS));
        } catch (IOException e) {
            return Long.MAX_VALUE;
        }
    }

    /** Parses the kernel's table of limits. */
    static long of(List<String> limits) {
        for (String line : limits) {
            if (line.startsWith(NAME)) {
                String soft = line.substring(NAME.length()).strip().split("\\s+", 2)[0];
                try {
                    return Long.parseLong(soft);
                } catch (NumberFormatException unlimited) {
                    return Long.MAX_VALUE;
                }
            }
        }
        return Long.MAX_VALUE;
    }
}
