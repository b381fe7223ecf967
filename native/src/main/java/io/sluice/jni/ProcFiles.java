package io.sluice.jni;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parses files of {@code /proc} and {@code /sys}. */
final class ProcFiles {
    private static final String LOCKED_MEMORY = "Max locked memory";

    private ProcFiles() {}

    /** The soft limit in {@code /proc/self/limits} in bytes, -1 if unlimited. */
    static long lockedMemoryLimit(List<String> limits) {
        for (String line : limits) {
            if (line.startsWith(LOCKED_MEMORY)) {
                String value = line.substring(LOCKED_MEMORY.length()).strip().split("\\s+")[0];
                return value.equals("unlimited") ? -1 : Long.parseLong(value);
            }
        }
        throw missing(LOCKED_MEMORY);
    }

    /** {@code MemTotal} of {@code /proc/meminfo} in bytes. */
    static long totalMemory(List<String> meminfo) {
        String value = firstValue(meminfo, "MemTotal");
        if (value == null) {
            throw missing("MemTotal");
        }
        return Long.parseLong(value.replace("kB", "").strip()) * 1024;
    }

    /** The name of the first processor in {@code /proc/cpuinfo}. */
    static String cpuModel(List<String> cpuinfo) {
        String name = firstValue(cpuinfo, "model name");
        if (name != null) {
            return name;
        }
        String implementer = firstValue(cpuinfo, "CPU implementer");
        String part = firstValue(cpuinfo, "CPU part");
        return implementer == null || part == null ? "unknown" : "ARM implementer " + implementer + " part " + part;
    }

    /** Whether {@code /proc/self/mounts} lists the file system of a file as {@code noexec}. */
    static boolean isOnNoexecMount(List<String> mounts, Path file) {
        int depth = -1;
        boolean noexec = false;
        for (String line : mounts) {
            String[] fields = line.split(" ");
            if (fields.length < 4) {
                continue;
            }
            Path point = Path.of(unescaped(fields[1]));
            // the deepest mount point contains the file, and the last mount on it counts
            if (file.startsWith(point) && point.getNameCount() >= depth) {
                depth = point.getNameCount();
                noexec = List.of(fields[3].split(",")).contains("noexec");
            }
        }
        return noexec;
    }

    private static String unescaped(String mountPoint) {
        return mountPoint.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
    }

    private static @Nullable String firstValue(List<String> lines, String key) {
        for (String line : lines) {
            int colon = line.indexOf(':');
            if (colon >= 0 && line.substring(0, colon).strip().equals(key)) {
                return line.substring(colon + 1).strip();
            }
        }
        return null;
    }

    private static UncheckedIOException missing(String what) {
        return new UncheckedIOException(new IOException("the kernel does not report: " + what));
    }
}
