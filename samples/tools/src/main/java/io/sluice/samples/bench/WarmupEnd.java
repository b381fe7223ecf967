package io.sluice.samples.bench;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * When a warm-up is over: after the least time, and on until the JVM has compiled what is to be measured, but not for more than
 * a few times as long.
 */
final class WarmupEnd {
    private static final int MOST_WARMUPS = 5;

    private final long leastNanos;
    private final CompilerActivity compiler = new CompilerActivity();

    WarmupEnd(Duration least) {
        leastNanos = least.toNanos();
    }

    /** Whether it is over. To be asked often. */
    boolean isReached(long warmedNanos) {
        boolean quiet = compiler.isQuiet();
        return warmedNanos >= leastNanos && (quiet || warmedNanos / MOST_WARMUPS >= leastNanos);
    }

    /**
     * Whether the JVM still compiles, which takes time from what is measured, above all where there is one processor. It goes by
     * the processor time of the compilers' threads: one large method may keep a compiler for a second and more, and what the JVM
     * itself reports are compilations that have ended.
     */
    static final class CompilerActivity {
        private static final Path THREADS = Path.of("/proc/self/task");

        /** The names of {@code C1 CompilerThread0} and {@code C2 CompilerThread0}, as the kernel truncates them. */
        private static final String COMPILER = "C[12] CompilerThre";

        private static final long WINDOW_NANOS = 1_000_000_000L;
        private static final long MOST_NANOS = 20_000_000;

        private final Map<Path, Long> used = new HashMap<>();
        private long windowBegan = System.nanoTime();
        private long busyNanos;

        CompilerActivity() {
            addUse();
            busyNanos = 0;
        }

        /** Whether compilers have done next to nothing for a second; true also if it cannot tell. Ask it often. */
        boolean isQuiet() {
            long now = System.nanoTime();
            addUse();
            if (busyNanos > MOST_NANOS) {
                windowBegan = now;
                busyNanos = 0;
            }
            return used.isEmpty() || now - windowBegan >= WINDOW_NANOS;
        }

        /** The JVM starts such threads as it needs them, and ends them. */
        private void addUse() {
            try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
                for (Path thread : threads) {
                    addUseOf(thread);
                }
            } catch (IOException | DirectoryIteratorException notToBeSeen) {
                used.clear();
            }
        }

        private void addUseOf(Path thread) {
            try {
                if (used.containsKey(thread)
                        || Files.readString(thread.resolve("comm")).strip().matches(COMPILER)) {
                    long nanos = processorNanos(Files.readString(thread.resolve("schedstat")));
                    Long before = used.put(thread, nanos);
                    busyNanos += Math.max(0, nanos - (before == null ? 0 : before));
                }
            } catch (IOException ended) {
                used.remove(thread);
            }
        }

        /** The first of the three figures. */
        private static long processorNanos(String schedstat) {
            return Long.parseLong(schedstat.substring(0, schedstat.indexOf(' ')));
        }
    }
}
