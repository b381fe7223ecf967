package io.sluice.samples.bench;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;

/** Whether the JVM still compiles, which takes time from what is measured, above all where there is one processor. */
final class CompilerActivity {

    private static final long WINDOW_NANOS = 1_000_000_000L;
    private static final long MOST_MILLIS = 20;

    private final @Nullable CompilationMXBean compiler;
    private long windowBegan = System.nanoTime();
    private long compiledBefore;

    CompilerActivity() {
        CompilationMXBean bean = ManagementFactory.getCompilationMXBean();
        compiler = bean != null && bean.isCompilationTimeMonitoringSupported() ? bean : null;
        compiledBefore = compiledMillis();
    }

    /** Whether it has compiled next to nothing for a second; true also if it cannot tell. Ask it often. */
    boolean isQuiet() {
        long now = System.nanoTime();
        long compiled = compiledMillis();
        if (compiled - compiledBefore > MOST_MILLIS) {
            windowBegan = now;
            compiledBefore = compiled;
        }
        return compiler == null || now - windowBegan >= WINDOW_NANOS;
    }

    private long compiledMillis() {
        return compiler == null ? 0 : compiler.getTotalCompilationTime();
    }
}
