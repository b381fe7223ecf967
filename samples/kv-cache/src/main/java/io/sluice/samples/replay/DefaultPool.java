package io.sluice.samples.replay;

import io.sluice.jni.MachineFacts;
import io.sluice.samples.kvcache.ModelPreset;
import java.lang.management.ManagementFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How large a page pool is by default: room for a few long conversations, within what the machine can spare. */
public final class DefaultPool {
    private static final Logger LOG = LoggerFactory.getLogger(DefaultPool.class);

    /** The longest conversations that most models are made for. */
    private static final long LONGEST_TOKENS = 131_072;

    private static final long CONVERSATIONS = 4;

    private DefaultPool() {}

    /**
     * Its size in bytes: room for {@value #CONVERSATIONS} of the longest inputs, at most a third of the free memory.
     */
    public static long bytes(ModelPreset model) {
        return bytes(model, availableMemory());
    }

    /** The same with room for one of the longest inputs: it is soon written through. */
    public static long bytesForOne(ModelPreset model) {
        return bytes(model, 1, availableMemory());
    }

    static long bytes(ModelPreset model, long availableMemory) {
        return bytes(model, CONVERSATIONS, availableMemory);
    }

    private static long bytes(ModelPreset model, long conversations, long availableMemory) {
        long wanted = conversations * LONGEST_TOKENS * model.layers() * model.bytesPerToken();
        return Math.min(wanted, availableMemory / 3);
    }

    private static long availableMemory() {
        long available = MachineFacts.availableMemory();
        if (available >= 0) {
            return available;
        }
        LOG.debug("the kernel does not tell how much memory is free");
        return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
                .getTotalMemorySize();
    }
}
