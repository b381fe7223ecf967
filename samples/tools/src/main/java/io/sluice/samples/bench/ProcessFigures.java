package io.sluice.samples.bench;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** What this process has used until now. */
final class ProcessFigures {

    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    private ProcessFigures() {}

    /** Processor time, of the user and the system. */
    static long cpuNanos() {
        return SYSTEM.getProcessCpuTime();
    }

    /** Bytes that all threads together have allocated on the heap. */
    static long allocatedBytes() {
        return THREADS.getTotalThreadAllocatedBytes();
    }
}
