package io.sluice.engine.transport.verbs;

import java.nio.file.Path;

/** The process's limit of locked memory, which adapters need. */
final class LockedMemory {
    private static final String LIMIT = "Max locked memory";

    private LockedMemory() {}

    /** Advice for an adapter that is out of resources. */
    static String advice() {
        String limits = Sysfs.read(Path.of("/proc/self/limits"));
        String soft = limits == null
                ? "unknown"
                : limits.lines()
                        .filter(line -> line.startsWith(LIMIT))
                        .map(line -> line.substring(LIMIT.length()).strip().split("\\s+")[0])
                        .findFirst()
                        .orElse("unknown");
        return ". An adapter's memory is locked, and this process may lock "
                + (soft.equals("unlimited")
                        ? "any amount, so the adapter itself is exhausted: use fewer regions, lanes or" + " connections"
                        : soft
                                + " bytes: raise the limit (ulimit -l, LimitMEMLOCK= of systemd, or the memlock limit of the"
                                + " container), use fewer regions, lanes or connections, or leave verbs out"
                                + " (SLUICE_TRANSPORTS=tcp)");
    }
}
