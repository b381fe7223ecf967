package io.sluice.jni;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;

/**
 * Facts about the machine and its kernel, read in Java except for {@link #pageSize}, {@link #availableMemory} and
 * {@link #setAffinity}.
 */
public final class MachineFacts {
    private static final Path PROC = Path.of("/proc");

    private MachineFacts() {}

    /**
     * Returns the kernel's release.
     *
     * @return the output of {@code uname -r}, for example {@code 6.1.0-18-amd64}
     */
    public static String kernelRelease() {
        return System.getProperty("os.version", "unknown");
    }

    /**
     * Returns the limit of locked memory of this process (the soft limit {@code RLIMIT_MEMLOCK}).
     *
     * @return bytes, or -1 for no limit
     * @throws UncheckedIOException if {@code /proc} cannot be read
     */
    public static long lockedMemoryLimit() {
        return ProcFiles.lockedMemoryLimit(lines(PROC.resolve("self/limits")));
    }

    /**
     * Returns the page size.
     *
     * @return bytes
     */
    public static int pageSize() {
        NativeLibrary.ensureAvailable();
        return Memory.pageSize();
    }

    /**
     * Returns the random id of this boot of the kernel: the same for all processes and containers under one kernel, and
     * new after each boot.
     *
     * @return a UUID in text form
     * @throws UncheckedIOException if {@code /proc} cannot be read; there is no fallback value, because two hosts must
     *     never seem to be one
     */
    public static String bootId() {
        return text(PROC.resolve("sys/kernel/random/boot_id")).strip();
    }

    /**
     * Counts the online processors of the machine; this process may be restricted to fewer ({@link
     * Runtime#availableProcessors}).
     *
     * @return at least 1
     */
    public static int onlineProcessors() {
        try {
            return processors(text(Path.of("/sys/devices/system/cpu/online"))).cardinality();
        } catch (UncheckedIOException | IllegalArgumentException e) {
            // some sandboxes hide /sys: fall back to what this process may use
            return Runtime.getRuntime().availableProcessors();
        }
    }

    /**
     * Parses a list of processors as the kernel and {@code taskset} write it, such as {@code 0-3,8}.
     *
     * @param list the list; blank for none
     * @return the processors' numbers
     * @throws IllegalArgumentException if it is not such a list
     */
    public static BitSet processors(String list) {
        BitSet processors = new BitSet();
        if (list.isBlank()) {
            return processors;
        }
        for (String range : list.split(",", -1)) {
            String[] ends = range.strip().split("-", 2);
            int first = Integer.parseInt(ends[0]);
            int last = ends.length == 1 ? first : Integer.parseInt(ends[1]);
            if (first < 0 || first > last || last == Integer.MAX_VALUE) {
                throw new IllegalArgumentException("'" + range + "' is not a range of processors");
            }
            processors.set(first, last + 1);
        }
        return processors;
    }

    /**
     * Returns the memory of the machine, regardless of container limits.
     *
     * @return bytes
     * @throws UncheckedIOException if {@code /proc} cannot be read
     */
    public static long totalMemory() {
        return ProcFiles.totalMemory(lines(PROC.resolve("meminfo")));
    }

    /**
     * Returns how much memory this process may still use: the machine's available memory, or less if a control group
     * such as a container's leaves less. Reclaimable page cache counts as available, swap does not. Any thread.
     *
     * @return bytes, 0 or more, or {@code -errno}: {@code -ENOSYS} if the kernel does not report it
     * @throws IllegalStateException if the native library is not available
     */
    public static long availableMemory() {
        return availableMemory(Path.of(""));
    }

    /** As {@link #availableMemory()}, with another root folder of the kernel's files, for tests. */
    static long availableMemory(Path root) {
        NativeLibrary.ensureAvailable();
        return availableMemoryBelow(root.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static native long availableMemoryBelow(byte[] root);

    /**
     * Returns the processor model.
     *
     * @return the kernel's name for it, on aarch64 the implementer and part numbers; {@code unknown} if there is
     *     neither
     * @throws UncheckedIOException if {@code /proc} cannot be read
     */
    public static String cpuModel() {
        return ProcFiles.cpuModel(lines(PROC.resolve("cpuinfo")));
    }

    /**
     * Binds the calling thread to one processor. Not for virtual threads: it would bind their carrier.
     *
     * @param cpu the processor's number, from 0
     * @return 0, or {@code -errno}: {@code -EINVAL} for a processor that does not exist or that this process may not
     *     use
     * @throws IllegalStateException if the native library is not available
     */
    public static int setAffinity(int cpu) {
        NativeLibrary.ensureAvailable();
        return setThreadAffinity(cpu);
    }

    private static native int setThreadAffinity(int cpu);

    private static List<String> lines(Path file) {
        return text(file).lines().toList();
    }

    private static String text(Path file) {
        try {
            // not every byte in /proc is UTF-8; this decoder never fails
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
