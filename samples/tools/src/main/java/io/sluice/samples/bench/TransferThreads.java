package io.sluice.samples.bench;

import com.sun.management.ThreadMXBean;
import io.sluice.engine.TransferEngine;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/**
 * What the threads that carry transfers allocate: the pollers, those that drive rounds, and event loops. Whoever else is busy in this process,
 * such as one that answers a scrape, does not count.
 */
final class TransferThreads {

    /** What the names of threads that drive rounds begin with. */
    static final String DRIVER_PREFIX = "bench-driver-";

    /** What Vert.x calls its event loops. */
    private static final String EVENT_LOOP_PREFIX = "vert.x-eventloop-";

    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    private Map<Long, Long> before = Map.of();

    /** From now on. */
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
