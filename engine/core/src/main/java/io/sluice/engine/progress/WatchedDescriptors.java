package io.sluice.engine.progress;

import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.EventLoop.ReadinessHandler;
import io.sluice.engine.transport.EventLoop.Watch;
import io.sluice.jni.Epoll;
import io.sluice.jni.Errno;
import io.sluice.jni.EventDescriptor;
import io.sluice.jni.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The descriptors that a poller watches by epoll, and the event descriptor that wakes it. On the poller's thread, except
 * for {@link #wake}.
 *
 * <p>The kernel is not asked in every cycle. A descriptor that was ready a moment ago is likely to be ready again within
 * microseconds, and a read from it finds that out as well as the kernel does. While such descriptors or other sources are
 * polled, the kernel is asked about the rest at growing intervals, until one of the rest is ready.
 */
final class WatchedDescriptors {
    // few, so that what belongs to a connection is still in the near caches when its answers leave, at the cycle's end
    private static final int MAX_EVENTS = 8;
    private static final long WAKE_UP = -1;
    // a look at an idle socket costs as much as to ask the kernel about all: beyond two, asking is cheaper
    private static final int MOST_HOT = 2;
    // an answer from the same machine or rack comes within this time; later ones may as well wait for the kernel
    private static final long HOT_NANOS = 50_000;
    private static final long SHORTEST_ASK_PAUSE_NANOS = 500;
    private static final long LONGEST_ASK_PAUSE_NANOS = 20_000;
    // of a poller that parks at once
    private static final int MOST_CYCLES_UNASKED = 2;

    private final Poller poller;
    private final boolean parksAtOnce;
    private final MemorySegment events;
    private final int epoll;
    private final int wakeUp;

    private @Nullable DescriptorWatch[] watches = new @Nullable DescriptorWatch[64];
    private int[] generations = new int[64];
    private final @Nullable DescriptorWatch[] hot = new @Nullable DescriptorWatch[MOST_HOT];
    private int hotCount;
    // when the kernel was asked last, and how long it is not asked from then on, while something else is polled
    private long askedAt;
    private long askPauseNanos;
    private int cyclesUnasked;

    /**
     * Opens the descriptors of a poller.
     *
     * @param parksAtOnce whether the poller parks after the first cycle without work
     * @throws SluiceException if the kernel gives no descriptors; none stays open then, nor after any other error
     */
    WatchedDescriptors(Poller poller, boolean parksAtOnce, Arena arena) {
        this.poller = poller;
        this.parksAtOnce = parksAtOnce;
        events = arena.allocate((long) MAX_EVENTS * Epoll.RECORD_BYTES, Epoll.RECORD_BYTES);
        epoll = checked(Epoll.create(), "create an epoll descriptor");
        int event = -1;
        try {
            event = checked(EventDescriptor.create(), "create an event descriptor");
            checked(Epoll.add(epoll, event, Epoll.READABLE, WAKE_UP), "watch an event descriptor");
        } catch (RuntimeException | Error e) {
            if (event >= 0) {
                Sockets.close(event);
            }
            Sockets.close(epoll);
            throw e;
        }
        wakeUp = event;
    }

    Watch watch(int descriptor, ReadinessHandler handler) {
        if (descriptor >= watches.length) {
            int length = Integer.highestOneBit(descriptor) * 2;
            // both or none: there may be memory for one of them only
            @Nullable DescriptorWatch[] longerWatches = Arrays.copyOf(watches, length);
            generations = Arrays.copyOf(generations, length);
            watches = longerWatches;
        }
        // the kernel reuses descriptors at once; the generation tells a stale event from a fresh one
        int generation = ++generations[descriptor];
        DescriptorWatch watch = new DescriptorWatch(descriptor, generation, handler);
        watches[descriptor] = watch;
        int added = Epoll.add(epoll, descriptor, Epoll.READABLE, watch.data());
        if (added < 0) {
            watches[descriptor] = null;
        }
        checked(added, "watch a descriptor");
        return watch;
    }

    /** Reads from descriptors that are likely to be ready, without asking the kernel; returns how many were ready. */
    int readHot() {
        int ready = 0;
        for (int i = hotCount - 1; i >= 0; i--) {
            DescriptorWatch watch = hot[i];
            if (watch == null || !watch.staysHot()) {
                cool(i);
                continue;
            }
            watch.expectsMore = false;
            handle(watch, Epoll.READABLE);
            if (watch.expectsMore) {
                ready++;
            }
        }
        return ready;
    }

    private void cool(int at) {
        DescriptorWatch watch = hot[at];
        if (watch != null) {
            watch.hot = false;
        }
        hotCount--;
        hot[at] = hot[hotCount];
        hot[hotCount] = null;
    }

    /**
     * Asks the kernel what is ready, unless that was just done.
     *
     * @param othersPolled whether the poller has other sources of work
     * @return how many descriptors were ready
     */
    int askKernel(boolean othersPolled) {
        if (parksAtOnce) {
            // it asks when it parks, which is soon
            if (cyclesUnasked < MOST_CYCLES_UNASKED) {
                cyclesUnasked++;
                return 0;
            }
        } else if (hotCount > 0 || othersPolled) {
            long now = poller.now();
            if (now - askedAt < askPauseNanos) {
                return 0;
            }
            askedAt = now;
        }
        return dispatch(await(0));
    }

    /**
     * Waits until a descriptor is ready, or the poller is woken.
     *
     * @param timeout nanoseconds
     * @return how many records {@link #dispatch} has to handle
     */
    int await(long timeout) {
        int ready = Epoll.await(epoll, events.address(), MAX_EVENTS, timeout);
        if (ready < 0) {
            throw new SluiceException("waiting for descriptors failed: " + Errno.message(-ready));
        }
        cyclesUnasked = 0;
        return ready;
    }

    /** Calls the handlers of the descriptors that {@link #await} found ready. */
    int dispatch(int ready) {
        boolean news = false;
        for (int i = 0; i < ready; i++) {
            long at = (long) i * Epoll.RECORD_BYTES;
            int flags = events.get(ValueLayout.JAVA_INT, at + Epoll.RECORD_EVENTS_OFFSET);
            long data = events.get(ValueLayout.JAVA_LONG, at + Epoll.RECORD_DATA_OFFSET);
            if (data == WAKE_UP) {
                EventDescriptor.drain(wakeUp);
                continue;
            }
            int descriptor = (int) data;
            DescriptorWatch watch = descriptor >= 0 && descriptor < watches.length ? watches[descriptor] : null;
            if (watch == null || watch.generation != (int) (data >>> 32)) {
                continue;
            }
            // a hot one is read in the next cycle anyway
            news |= !watch.hot;
            handle(watch, flags);
        }
        askPauseNanos = news ? 0 : Math.clamp(askPauseNanos * 2, SHORTEST_ASK_PAUSE_NANOS, LONGEST_ASK_PAUSE_NANOS);
        return ready;
    }

    private void handle(DescriptorWatch watch, int flags) {
        poller.beginBatch();
        boolean failed = (flags & (Epoll.ERROR | Epoll.HANGUP)) != 0;
        try {
            watch.handler.ready(failed || (flags & Epoll.READABLE) != 0, failed || (flags & Epoll.WRITABLE) != 0);
        } catch (Throwable e) {
            poller.report(e);
        }
    }

    /** Ends a wait, from any thread that keeps {@link #close} from running meanwhile. */
    void wake() {
        EventDescriptor.signal(wakeUp);
    }

    void close() {
        Sockets.close(wakeUp);
        Sockets.close(epoll);
    }

    private static int checked(int result, String what) {
        if (result < 0) {
            throw new SluiceException("cannot " + what + ": " + Errno.message(-result)
                    + (result == -Errno.EMFILE || result == -Errno.ENFILE
                            ? "; raise the limit of open files (ulimit -n)"
                            : ""));
        }
        return result;
    }

    private final class DescriptorWatch implements Watch {
        private final int descriptor;
        private final int generation;
        private final ReadinessHandler handler;
        private int interest = Epoll.READABLE;
        private boolean hot;
        // whether the handler has expected more since it was called last, and when it did
        private boolean expectsMore;
        private long expectedAt;

        DescriptorWatch(int descriptor, int generation, ReadinessHandler handler) {
            this.descriptor = descriptor;
            this.generation = generation;
            this.handler = handler;
        }

        long data() {
            return ((long) generation << 32) | descriptor;
        }

        @Override
        public void interest(boolean readable, boolean writable) {
            int wanted = (readable ? Epoll.READABLE : 0) | (writable ? Epoll.WRITABLE : 0);
            if (wanted != interest && watches[descriptor] == this && !poller.isTerminated()) {
                interest = wanted;
                checked(Epoll.modify(epoll, descriptor, wanted, data()), "change a watch");
            }
        }

        @Override
        public void expectMore() {
            expectsMore = true;
            expectedAt = poller.now();
            // a poller that parks at once learns of it from the kernel anyway
            if (!hot && hotCount < MOST_HOT && !parksAtOnce && isReadable()) {
                hot = true;
                WatchedDescriptors.this.hot[hotCount++] = this;
            }
        }

        boolean staysHot() {
            return poller.now() - expectedAt < HOT_NANOS && isReadable();
        }

        /** Whether to call the handler because there may be something to read. */
        private boolean isReadable() {
            return watches[descriptor] == this && (interest & Epoll.READABLE) != 0;
        }

        @Override
        public void cancel() {
            if (watches[descriptor] == this) {
                watches[descriptor] = null;
                if (!poller.isTerminated()) {
                    Epoll.remove(epoll, descriptor);
                }
            }
        }
    }
}
