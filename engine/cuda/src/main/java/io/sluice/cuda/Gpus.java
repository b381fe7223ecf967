package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The GPUs that this process sees, and those that a transport has opened: a GPU that nothing needs costs no memory. Any thread. Users of
 * an open one are inside ({@link #enter}), but for pollers and the mapping threads, which have ended before this is closed.
 */
final class Gpus implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Gpus.class);

    private final List<String> ids;
    private final int blocks;
    // from each to each, as the driver says
    private final int[] links;
    private final List<GpuMetrics> metrics;
    private final Set<String> warned = ConcurrentHashMap.newKeySet();
    // copied on change
    private volatile @Nullable Gpu[] opened;
    // read by those inside, written to close
    private final ReadWriteLock uses = new ReentrantReadWriteLock();
    private volatile boolean closed;

    Gpus(int blocks) {
        this.ids = ids();
        this.blocks = blocks;
        this.links = links(ids.size());
        this.metrics = ids.stream().map(GpuMetrics::new).toList();
        this.opened = new @Nullable Gpu[ids.size()];
    }

    private static int[] links(int count) {
        int[] links = new int[count * count];
        for (int i = 0; i < links.length; i++) {
            int from = i / count;
            int to = i % count;
            int link = CudaDevice.LINK_ACCESS | CudaDevice.LINK_NATIVE_ATOMICS;
            links[i] = Math.max(0, from == to ? link : CudaDevice.link(from, to));
        }
        return links;
    }

    private boolean has(int from, int to, int bit) {
        return (links[from * ids.size() + to] & bit) != 0;
    }

    /** Whether each reaches the memory of each. */
    boolean reachAll() {
        return Arrays.stream(links).allMatch(link -> (link & CudaDevice.LINK_ACCESS) != 0);
    }

    /** Says once of a GPU that its memory is out of reach. */
    void warnOutOfReach(String owner) {
        if (warned.add(owner)) {
            LOG.warn(
                    "no GPU that this engine uses has peer access to memory of {}: its bytes go through memory of the host where tcp"
                            + " is a path, which is slower; `nvidia-smi topo -p2p rw` says why",
                    owner);
        }
    }

    /** Whether none of those that are open, of which there is one, reaches the memory of a GPU that this process sees. */
    boolean isOutOfReach(String owner) {
        int to = ordinal(owner);
        boolean some = false;
        for (int from = 0; to >= 0 && from < ids.size(); from++) {
            if (isOpen(from)) {
                if (has(from, to, CudaDevice.LINK_ACCESS)) {
                    return false;
                }
                some = true;
            }
        }
        return some;
    }

    private static List<String> ids() {
        return IntStream.range(0, counted()).mapToObj(GpuInfo::id).toList();
    }

    /** Describes each GPU in words. */
    static List<String> describe() {
        return IntStream.range(0, counted()).mapToObj(GpuInfo::describe).toList();
    }

    private static int counted() {
        return (int) CudaException.check(CudaDevice.count(), "the driver does not count GPUs");
    }

    int count() {
        return ids.size();
    }

    /** The number that this process has for a GPU; −1 if it does not see it. */
    int ordinal(String id) {
        return ids.indexOf(id);
    }

    String id(int ordinal) {
        return ids.get(ordinal);
    }

    /** Also of those that are not open. */
    List<GpuMetrics> metrics() {
        return metrics;
    }

    List<String> all() {
        return ids;
    }

    /** The GPU, which is opened if it is not yet: that blocks. */
    Gpu open(int ordinal) {
        Gpu before = opened[ordinal];
        return before != null ? before : openNow(ordinal);
    }

    private synchronized Gpu openNow(int ordinal) {
        @Nullable Gpu[] now = opened;
        Gpu before = now[ordinal];
        if (before != null) {
            return before;
        }
        Gpu made = Gpu.open(ordinal, metrics.get(ordinal), blocks);
        @Nullable Gpu[] more = Arrays.copyOf(now, now.length);
        more[ordinal] = made;
        opened = more;
        return made;
    }

    boolean isOpen(int ordinal) {
        return opened[ordinal] != null;
    }

    /** Whether additions of one GPU to words of another are atomic. */
    boolean addsTo(int ordinal, String owner) {
        int to = ordinal(owner);
        return to >= 0 && has(ordinal, to, CudaDevice.LINK_NATIVE_ATOMICS);
    }

    /** Keeps what is open as it is until {@link #leave}, on the same thread; false if this is closed, or is being closed. */
    boolean enter() {
        if (!uses.readLock().tryLock()) {
            return false;
        }
        if (closed) {
            leave();
            return false;
        }
        return true;
    }

    void leave() {
        uses.readLock().unlock();
    }

    /** Lets no more calls in, and waits for those that are inside. Blocks. */
    @Override
    public void close() {
        closed = true;
        uses.writeLock().lock();
        try {
            for (Gpu gpu : opened) {
                if (gpu != null) {
                    gpu.close();
                }
            }
        } finally {
            uses.writeLock().unlock();
        }
    }
}
