package io.sluice.jni;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Facts about the machine and its kernel. All but {@link #pageSize},
 * {@link #availableMemory} and {@link #setAffinity} are read in Java. */
public final class MachineFacts {
    private static final Path PROC = Path.of("/proc");

    private MachineFacts() {}

    /**
     * Returns the kernel's release.
     *
     * @return as {@code uname -r}, for example {@code 6.1.0-18-amd64}
     */
    public static String kernelRelease() {
        return System.getProperty("os.version", "unknown");
    }

    /**
     * Returns how much memory this process may lock (the soft limit {@code RLIMIT_MEMLOCK}).
     *
     * @return bytes, or -1 for no limit
     * @throws UncheckedIOException if {@code /proc} cannot be read
     */
    public static long lockedMemoryLimit() {
        return ProcFiles.lockedMemoryLimit(lines(PROC.resolve("self/limits")));
    }

    /**
     * Returns the size of a page of memory.
     *
     * @return bytes
     */
    public static int pageSize() {
        NativeLibrary.ensureAvailable();
        return Memory.pageSize();
    }

    /**
     * Returns the random id of this boot of the kernel: the same for all processes and containers under one kernel,
     * another one after each boot.
     *
     * @return a UUID in its usual form
     * @throws UncheckedIOException if {@code /proc} cannot be read; no made-up value stands in, because two hosts must
     *     never seem to be one
     */
    public static String bootId() {
        return text(PROC.resolve("sys/kernel/random/boot_id")).strip();
    }

    /**
     * Counts the online processors of the machine, of which this process may use fewer (that is
     * {@link Runtime#availableProcessors}).
     *
     * @return at least 1
     */
    public static int onlineProcessors() {
        try {
            return ProcFiles.countOfCpuList(
                    text(Path.of("/sys/devices/system/cpu/online")).strip());
        } catch (UncheckedIOException | NumberFormatException e) {
            // Some sandboxes hide /sys: what this process may use is the best that can be said there.
            return Runtime.getRuntime().availableProcessors();
        }
    }

    /**
     * Returns the memory of the machine, without the limits of a container.
     *
     * @return bytes
     * @throws UncheckedIOException if {@code /proc} cannot be read
     */
    public static long totalMemory() {
        return ProcFiles.totalMemory(lines(PROC.resolve("meminfo")));
    }

    /**
     * Returns how much memory this process may still use: what the machine has available, or less where the limit of a
     * control group, such as a container's, leaves less. Page cache that can be dropped counts as available, swap does
     * not. Any thread.
     *
     * @return bytes, 0 or more, or {@code -errno}: {@code -ENOSYS} where the kernel does not tell
     * @throws IllegalStateException if the native library is not available
     */
    public static long availableMemory() {
        return availableMemory(Path.of(""));
    }

    /** As {@link #availableMemory()}, with the kernel's files below another folder, for tests. */
    static long availableMemory(Path root) {
        NativeLibrary.ensureAvailable();
        return availableMemoryBelow(root.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static native long availableMemoryBelow(byte[] root);

    /**
     * Returns the model of the processor.
     *
     * @return the name that the kernel shows, on aarch64 the implementer's and part's numbers; {@code unknown} if it
     *     shows neither
     * @throws UncheckedIOException if {@code /proc} cannot be read
     */
    public static String cpuModel() {
        return ProcFiles.cpuModel(lines(PROC.resolve("cpuinfo")));
    }

    /**
     * Binds the calling thread, and no other, to one processor. Not for virtual threads: it would bind their carrier.
     *
     * @param cpu the processor's number, from 0
     * @return 0, or {@code -errno}: {@code -EINVAL} for a processor that is not there or that this process may not use
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
            // Not every byte in /proc is UTF-8; this never fails to decode.
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
