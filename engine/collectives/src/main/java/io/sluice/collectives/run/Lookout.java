package io.sluice.collectives.run;

import io.sluice.collectives.link.LinkLayout;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SignalWait;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Looks for what peers store, if their memory is mapped, or write. It looks without a pause while a peer may answer within
 * microseconds, then lets other threads run, then sleeps: it asks the engine to tell of what peers write, and says so in a
 * word, so that a peer that stores something wakes it by a signal. So a short wait costs neither a system call nor a way
 * through the engine, and a rank without work costs no core. All of it is the loop's.
 */
final class Lookout {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long AWAKE_NANOS = 50_000;
    private static final int SPINS = 64;
    private static final long YIELDS_AFTER_NANOS = 20_000;
    // where ranks or threads share a processor, the one that would bring work cannot run meanwhile
    private static final int CROWDED_SPINS = 16;
    private static final long CROWDED_YIELDS_AFTER_NANOS = 1_000;

    // a yield to a thread that ran takes longer
    private static final long SWITCHED_NANOS = 2_000;

    private final Links links;
    private final MemoryRegion own;
    private final MemorySegment memory;
    private final long asleepAt;
    private final long wokenAt;
    private final boolean mapped;
    private final int spins;
    private final long yieldsAfterNanos;
    private @Nullable SignalWait woken;
    private boolean asleep;
    private boolean stopped;
    private long lastFound;

    Lookout(LinkLayout layout, MemoryRegion own, Links links) {
        this.links = links;
        this.own = own;
        this.memory = own.segment();
        this.asleepAt = layout.asleepAt();
        this.wokenAt = layout.wokenAt();
        this.mapped = links.mappedPeers() > 0;
        int processors = Runtime.getRuntime().availableProcessors();
        boolean crowded = processors == 1 || processors < layout.size();
        this.spins = crowded ? CROWDED_SPINS : SPINS;
        this.yieldsAfterNanos = crowded ? CROWDED_YIELDS_AFTER_NANOS : YIELDS_AFTER_NANOS;
    }

    void begin(EngineLoop loop, Runnable whenWoken) {
        if (mapped) {
            woken = own.signal(wokenAt).onAtLeast(1, loop, (wait, value, error) -> {
                if (error == null && !stopped) {
                    wait.arm(value + 1);
                    whenWoken.run();
                }
            });
        }
    }

    /** This rank looks again. */
    void awake() {
        if (asleep) {
            asleep = false;
            WORD.setRelease(memory, asleepAt, 0L);
        }
    }

    /** Looks for a moment whether something comes that is waited for. */
    boolean comes() {
        if (!links.look()) {
            return false;
        }
        if (!mapped) {
            // what peers write the engine receives between two polls
            return links.isReady();
        }
        for (int i = 0; i < spins; i++) {
            if (links.isReady()) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }

    /**
     * Whether this rank looks on; if not, it sleeps until it is woken.
     *
     * @param found whether it has found work since the last call
     */
    @SuppressWarnings("ThreadPriorityCheck") // a courtesy; nothing depends on it
    boolean looksOn(long now, boolean found) {
        if (!mapped && !links.look()) {
            return false;
        }
        if (found) {
            lastFound = now;
            return true;
        }
        long waited = now - lastFound;
        if (waited < AWAKE_NANOS) {
            if (waited > yieldsAfterNanos) {
                Thread.yield();
                long away = System.nanoTime() - now;
                // while others ran on this processor it has not looked
                lastFound += away > SWITCHED_NANOS ? away : 0;
            }
            return true;
        }
        links.sleep();
        if (!mapped) {
            return false;
        }
        asleep = true;
        WORD.setVolatile(memory, asleepAt, 1L);
        // either a peer sees the word, or this rank sees what the peer has stored
        VarHandle.fullFence();
        if (links.isReady()) {
            awake();
            return true;
        }
        return false;
    }

    void stop() {
        stopped = true;
        SignalWait wait = woken;
        if (wait != null) {
            wait.close();
        }
    }
}
