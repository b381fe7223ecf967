package io.sluice.samples.bench;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.sluice.engine.TransferEngine;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The time, processors and heap that rounds used, between {@link #begin} and {@link #end}. */
final class Usage {
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    private final SideChannel side;
    private final TransferThreads transferThreads = new TransferThreads();
    private long nanos;
    private long cpuNanos;
    private long serverCpuNanos;
    private long allocatedBytes;
    private long transferThreadsBytes;
    private boolean serverSilent;
    private long cpuBefore;
    private long serverBefore;
    private long allocatedBefore;

    Usage(SideChannel side) {
        this.side = side;
    }

    void begin() {
        serverBefore = serverCpu();
        transferThreads.begin();
        cpuBefore = processCpuNanos();
        allocatedBefore = THREADS.getTotalThreadAllocatedBytes();
    }

    void end() {
        allocatedBytes += THREADS.getTotalThreadAllocatedBytes() - allocatedBefore;
        cpuNanos += processCpuNanos() - cpuBefore;
        transferThreadsBytes += transferThreads.end();
        serverCpuNanos += serverCpu() - serverBefore;
    }

    /** Processor time of this process until now, of the user and the system. */
    static long processCpuNanos() {
        return SYSTEM.getProcessCpuTime();
    }

    /** How long the round between took. */
    void add(long roundNanos) {
        nanos += roundNanos;
    }

    private long serverCpu() {
        ReportClient.ServerReport report = side.report();
        if (report == null) {
            serverSilent = true;
            return 0;
        }
        return report.cpuNanos();
    }

    long nanos() {
        return nanos;
    }

    double seconds() {
        return nanos / 1e9;
    }

    double cpuSeconds() {
        return cpuNanos / 1e9;
    }

    @Nullable
    Double serverCpuSeconds() {
        return serverSilent ? null : serverCpuNanos / 1e9;
    }

    long allocatedBytes() {
        return allocatedBytes;
    }

    /** Of those that carry transfers. */
    long transferThreadsBytes() {
        return transferThreadsBytes;
    }

    /**
     * Bytes allocated by the threads that carry transfers: the pollers, those that drive rounds, and event loops. Other threads of this process,
     * such as one that answers a scrape, do not count.
     */
    static final class TransferThreads {
        static final String DRIVER_PREFIX = "bench-driver-";

        private static final String EVENT_LOOP_PREFIX = "vert.x-eventloop-";

        private Map<Long, Long> before = Map.of();

        void begin() {
            before = allocated();
        }

        /** Bytes that they have allocated since; a thread that has ended meanwhile does not count. */
        long end() {
            long bytes = 0;
            for (Map.Entry<Long, Long> thread : allocated().entrySet()) {
                bytes += thread.getValue() - before.getOrDefault(thread.getKey(), 0L);
            }
            return bytes;
        }

        private static Map<Long, Long> allocated() {
            ThreadGroup all = Thread.currentThread().getThreadGroup();
            for (ThreadGroup parent = all.getParent(); parent != null; parent = parent.getParent()) {
                all = parent;
            }
            // It is an estimate, and threads may start meanwhile.
            Thread[] threads = new Thread[2 * all.activeCount() + Byte.SIZE];
            int count = all.enumerate(threads);
            Map<Long, Long> allocated = new HashMap<>();
            for (int i = 0; i < count; i++) {
                Thread thread = threads[i];
                if (TransferEngine.isPollerThread(thread)
                        || thread.getName().startsWith(DRIVER_PREFIX)
                        || thread.getName().startsWith(EVENT_LOOP_PREFIX)) {
                    // Less than 0 if it has just ended.
                    allocated.put(thread.threadId(), Math.max(0, THREADS.getThreadAllocatedBytes(thread.threadId())));
                }
            }
            return allocated;
        }
    }
}
