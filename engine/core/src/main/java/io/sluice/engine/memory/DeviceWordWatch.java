package io.sluice.engine.memory;

import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls the words of devices for which waits are pending, as a device changes them without a message. It polls for a
 * bounded time, leaves the loop an equal time for other work, and pauses longer the longer there is no new wait.
 * Without waits it does nothing.
 */
final class DeviceWordWatch extends Deadline implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceWordWatch.class);
    private static final long TURN_NANOS = 20_000;
    private static final long SHORTEST_PAUSE_NANOS = 20_000;
    // longer than a poller spins, so that it parks in between
    private static final long LONGEST_PAUSE_NANOS = 10_000_000;

    private final EventLoop loop;
    private final AtomicBoolean asked = new AtomicBoolean();
    // regions with a word for which a wait is or was pending; copied on change, so that iterating allocates nothing
    private volatile LocalRegion[] regions = {};

    // used by the loop: where to continue, and how long to pause after all were polled
    private int next;
    private long inRegion = SignalWaits.START;
    private long pause = SHORTEST_PAUSE_NANOS;

    DeviceWordWatch(EventLoop loop) {
        this.loop = loop;
    }

    // ---- any thread ----

    /** Called when a wait for a word of the region has registered, or will before this is called again. */
    void watch(LocalRegion region) {
        if (!isListed(region)) {
            list(region);
        }
        if (!region.isOpen()) {
            forget(region);
        } else if (!asked.getAndSet(true)) {
            loop.execute(this);
        }
    }

    private boolean isListed(LocalRegion region) {
        for (LocalRegion each : regions) {
            if (each.equals(region)) {
                return true;
            }
        }
        return false;
    }

    private synchronized void list(LocalRegion region) {
        if (!isListed(region)) {
            LocalRegion[] more = Arrays.copyOf(regions, regions.length + 1);
            more[regions.length] = region;
            regions = more;
        }
    }

    /** Called when the region closes. */
    synchronized void forget(LocalRegion region) {
        if (isListed(region)) {
            regions =
                    Arrays.stream(regions).filter(each -> !each.equals(region)).toArray(LocalRegion[]::new);
        }
    }

    // ---- the loop ----

    /** Called when there is a new wait. */
    @Override
    public void run() {
        // later polls see a wait that found it set
        asked.getAndSet(false);
        pause = SHORTEST_PAUSE_NANOS;
        long soon = loop.now() + pause;
        if (place() == NOT_ARMED || at() - soon > 0) {
            loop.arm(this, soon);
        }
    }

    @Override
    protected void expired() {
        long begun = System.nanoTime();
        boolean all;
        try {
            all = look(begun + TURN_NANOS);
        } catch (Error e) {
            // the heap may be full for a moment; the waits continue
            loop.arm(this, begun + LONGEST_PAUSE_NANOS);
            throw e;
        }
        long ended = System.nanoTime();
        long rest = ended - begun;
        if (!all) {
            loop.arm(this, ended + rest);
        } else if (isAwaited()) {
            loop.arm(this, ended + Math.max(pause, rest));
            pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
        }
    }

    /** Polls words from where it stopped; returns false if the time ran out before the last. */
    private boolean look(long until) {
        LocalRegion[] all = regions;
        while (next < all.length) {
            inRegion = look(all[next], until);
            if (inRegion != SignalWaits.END) {
                return false;
            }
            inRegion = SignalWaits.START;
            next++;
        }
        next = 0;
        // the region where it stopped may have been removed
        inRegion = SignalWaits.START;
        return true;
    }

    private long look(LocalRegion region, long until) {
        if (!region.acquire()) {
            return SignalWaits.END;
        }
        try {
            return region.words().look(inRegion, until);
        } catch (RuntimeException | InternalError e) {
            LOG.warn("words of {} cannot be read, so the waits for them end", region, e);
            region.words().waits().close(new SluiceException("words of " + region + " cannot be read", e));
            return SignalWaits.END;
        } finally {
            region.release();
        }
    }

    private boolean isAwaited() {
        for (LocalRegion region : regions) {
            if (region.words().waits().isAwaited()) {
                return true;
            }
        }
        return false;
    }
}
